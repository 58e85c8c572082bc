/**
 * Parked lanes of a cluster: each process that owns streams has the lanes of these. Everybody hears whose tenants are full, and asks all of them
 * what is parked.
 */
import { z } from 'zod'
import type { Clock, Random, TimerHandle } from '../../model/clock.ts'
import { erasedOfAll, type Erased } from '../../model/erased.ts'
import { errorText } from '../../model/errors.ts'
import type { ClusterBus } from '../cluster/bus.ts'
import type { Membership } from '../cluster/membership.ts'
import type { ParkingControl } from './control.ts'
import type { FullTenants } from './full-tenants.ts'
import { inOrder, parkedLaneSchema, type ParkedLaneView, type ParkedPage, type ParkedQuery } from './parked-list.ts'
import type { Parking } from './parking.ts'

/** How often a process whose tenants are full says so, and for how long the others believe it. */
const ANNOUNCE_MS = 1000
const BELIEVED_MS = 5000
/** An owner that does not answer by then is left out. */
const ANSWER_MS = 1000
/** One that erases writes all that is parked again first. */
const ERASED_MS = 120_000

/** Lanes in one answer at most: fewer, where these do not fit into a message of the bus. Who is asked for more is asked again. */
const MAX_LISTED = 2000

const fullSchema = z.object({ from: z.string(), tenants: z.array(z.string()) })
const questionSchema = z.discriminatedUnion('kind', [
  z.object({
    ...{ kind: z.literal('list'), tenantId: z.string().optional(), limit: z.number() },
    /** Where each engine that has more goes on, by its id: others have said all. Absent in the first question. */
    offsets: z.record(z.string(), z.number()).optional(),
  }),
  z.object({ kind: z.enum(['retry', 'give up']), tenantId: z.string().optional(), id: z.string() }),
  z.object({ kind: z.literal('erase') }),
])
const askSchema = z.object({ ask: z.string(), from: z.string(), question: questionSchema })
const answerSchema = z.object({
  ask: z.string(),
  /** Whose answer it is; empty of a former version, which says its first lanes alone. */
  engine: z.string().default(''),
  lanes: z.array(parkedLaneSchema),
  total: z.number(),
  isDone: z.boolean(),
  /** Whose lanes it speaks of. */
  partitions: z.array(z.number()).default([]),
  /** What is left to do of what was to be erased. */
  rest: z.string().optional(),
})
type Question = z.infer<typeof questionSchema>
type Answer = z.infer<typeof answerSchema>

export interface ParkingBusOptions {
  readonly bus: ClusterBus
  /** What the names of the cluster begin with. */
  readonly cluster: string
  readonly membership: Membership
  readonly clock: Clock
  readonly random: Random
  /** How many there are in the cluster. */
  readonly partitions: number
  /** Undefined where this process owns no streams. */
  readonly parking: Parking | undefined
}

interface Asking {
  readonly answers: Answer[]
  readonly wanted: number
  readonly end: () => void
}

export class ParkingBus implements ParkingControl, FullTenants {
  private readonly options: ParkingBusOptions
  private readonly full = new Map<string, { readonly tenants: ReadonlySet<string>; readonly untilMs: number }>()
  private readonly asking = new Map<string, Asking>()
  private readonly stops: (() => void)[]
  private timer: TimerHandle | undefined

  constructor(options: ParkingBusOptions) {
    this.options = options
    const { bus, cluster, membership } = options
    this.stops = [
      bus.subscribe(`${cluster}.parking.full`, (body) => this.heardFull(body)),
      bus.subscribe(`${cluster}.parking.ask`, (body) => this.heardAsk(body)),
      bus.subscribe(`${cluster}.parking.answer.${membership.self.id}`, (body) => this.heardAnswer(body)),
    ]
    if (options.parking !== undefined) this.announceLater()
  }

  has(tenantId: string): boolean {
    if (this.options.parking?.shares.full.has(tenantId) === true) return true
    if (this.full.size === 0) return false
    const now = this.options.clock.monotonic()
    for (const [from, { tenants, untilMs }] of this.full) {
      if (untilMs < now) this.full.delete(from)
      else if (tenants.has(tenantId)) return true
    }
    return false
  }

  /** Tells the others at once, after a change. */
  announce(): void {
    const { bus, cluster, membership, parking } = this.options
    const tenants = [...(parking?.shares.full ?? [])]
    bus.publish(`${cluster}.parking.full`, JSON.stringify({ from: membership.self.id, tenants }))
  }

  async list({ tenantId, offset, limit }: ParkedQuery): Promise<ParkedPage> {
    const wanted = this.engines
    const most = offset + limit
    const answers = await this.ask({ kind: 'list', tenantId, limit: most })
    const { rest, isPart } = await this.restOf(answers, tenantId, most)
    // A lane that came or went meanwhile moves those behind it.
    const byId = new Map([...answers.flatMap((answer) => answer.lanes), ...rest].map((lane) => [lane.id, lane]))
    const lanes = [...byId.values()].sort(inOrder)
    const total = answers.reduce((sum, answer) => sum + answer.total, 0)
    const page = { lanes: lanes.slice(offset, most), total }
    return this.areAll(answers, wanted) && !isPart ? page : { ...page, isPart: true }
  }

  /** What engines did not say in their first answers, of as many lanes as each may have on the page or before it. */
  private async restOf(
    answers: readonly Answer[],
    tenantId: string | undefined,
    most: number,
  ): Promise<{ readonly rest: readonly ParkedLaneView[]; readonly isPart: boolean }> {
    const rest: ParkedLaneView[] = []
    const left = new Map<string, number>()
    const said = (engine: string, place: number, total: number): void => {
      if (engine !== '' && place < Math.min(total, most)) left.set(engine, place)
      else left.delete(engine)
    }
    for (const { engine, lanes, total } of answers) said(engine, lanes.length, total)
    let isPart = false
    while (left.size > 0) {
      const offsets = Object.fromEntries(left)
      const more = await this.ask({ kind: 'list', tenantId, limit: most, offsets }, left.size)
      for (const [engine, place] of [...left]) {
        const answer = more.find((each) => each.engine === engine)
        isPart ||= answer === undefined
        if (answer === undefined || answer.lanes.length === 0) left.delete(engine)
        else said(engine, place + answer.lanes.length, answer.total)
      }
      rest.push(...more.flatMap(({ lanes }) => lanes))
    }
    return { rest, isPart }
  }

  async retryNow(id: string, tenantId: string | undefined): Promise<boolean> {
    return (await this.ask({ kind: 'retry', id, tenantId })).some(({ isDone }) => isDone)
  }

  async giveUp(id: string, tenantId: string | undefined): Promise<boolean> {
    return (await this.ask({ kind: 'give up', id, tenantId })).some(({ isDone }) => isDone)
  }

  async eraseRemoved(): Promise<Erased> {
    const wanted = this.engines
    const answers = await this.ask({ kind: 'erase' })
    const parts = answers.map(({ isDone, rest }) => ({ isGone: isDone, ...(rest === undefined ? {} : { rest }) }))
    if (this.areAll(answers, wanted)) return erasedOfAll(parts)
    const silent = wanted - answers.length
    const why =
      silent > 0
        ? `${silent} of ${wanted} processes did not answer`
        : 'parked lanes are on their way to another process'
    return erasedOfAll([...parts, { isGone: false, rest: `${why}: erase again` }])
  }

  close(): void {
    this.timer?.cancel()
    for (const stop of this.stops) stop()
    for (const { end } of this.asking.values()) end()
  }

  private announceLater(): void {
    this.timer = this.options.clock.after(ANNOUNCE_MS, () => {
      if ((this.options.parking?.shares.full.size ?? 0) > 0) this.announce()
      this.announceLater()
    })
  }

  /** None of the engines is silent, and no partition is without an owner now. */
  private areAll(answers: readonly Answer[], wanted: number): boolean {
    const found = new Set(answers.flatMap(({ partitions }) => partitions))
    return answers.length >= wanted && found.size >= this.options.partitions
  }

  private get engines(): number {
    return this.options.membership.members().filter(({ roles }) => roles.includes('engine')).length
  }

  /** The answers of all engines that answer in time, this process included. */
  private ask(question: Question, wanted = this.engines): Promise<readonly Answer[]> {
    const { bus, cluster, membership, clock, random } = this.options
    const ask = random.uuid()
    if (wanted === 0) return Promise.resolve([])
    return new Promise((resolve) => {
      const answers: Answer[] = []
      const timer = clock.after(question.kind === 'erase' ? ERASED_MS : ANSWER_MS, () => end())
      const end = (): void => {
        timer.cancel()
        this.asking.delete(ask)
        resolve(answers)
      }
      this.asking.set(ask, { answers, wanted, end })
      bus.publish(`${cluster}.parking.ask`, JSON.stringify({ ask, from: membership.self.id, question }))
    })
  }

  private heardFull(body: string): void {
    const { from, tenants } = fullSchema.parse(JSON.parse(body))
    const { membership, clock } = this.options
    if (from === membership.self.id) return
    if (tenants.length === 0) this.full.delete(from)
    else this.full.set(from, { tenants: new Set(tenants), untilMs: clock.monotonic() + BELIEVED_MS })
  }

  private heardAsk(body: string): void {
    const { bus, cluster, parking, membership } = this.options
    if (parking === undefined) return
    const engine = membership.self.id
    const { ask, from, question } = askSchema.parse(JSON.parse(body))
    if (question.kind === 'list' && question.offsets !== undefined && !(engine in question.offsets)) return
    const { partitions } = parking
    const say = (answer: Partial<Answer>): boolean => {
      const whole: Answer = { ask, engine, lanes: [], total: 0, isDone: false, partitions, ...answer }
      return bus.publish(`${cluster}.parking.answer.${from}`, JSON.stringify(whole))
    }
    if (question.kind === 'erase') {
      void eraseIn(parking).then(say)
      return
    }
    const { tenantId } = question
    if (question.kind === 'list') {
      const offset = question.offsets?.[engine] ?? 0
      const limit = Math.min(question.limit - offset, MAX_LISTED)
      const { lanes, total } = parking.list({ tenantId, offset, limit })
      let count = lanes.length
      while (!say({ lanes: lanes.slice(0, count), total }) && count > 1) count = Math.floor(count / 2)
      return
    }
    const { id, kind } = question
    const isDone = kind === 'retry' ? parking.retryNow(id, tenantId) : parking.giveUp(id, tenantId)
    say({ isDone })
  }

  private heardAnswer(body: string): void {
    const answer = answerSchema.parse(JSON.parse(body))
    const asking = this.asking.get(answer.ask)
    if (asking === undefined) return
    asking.answers.push(answer)
    if (asking.answers.length >= asking.wanted) asking.end()
  }
}

/** Whatever becomes of it is an answer. */
function eraseIn(parking: Parking): Promise<Pick<Answer, 'isDone' | 'rest'>> {
  return parking.eraseRemoved().then(
    ({ isGone, rest }) => ({ isDone: isGone, rest }),
    (error: unknown) => ({ isDone: false, rest: errorText(error) }),
  )
}
