/**
 * Firmware or software of one client: the package that its shared attributes name is written to it, or the address where it loads it, and is
 * installed once it is there. What it says of its state is telemetry. Source: `device-api.md` 13.9.
 */
import { errorText, isMillraceError } from '../../../model/errors.ts'
import { stringifyJson, type JsonObject } from '../../../model/json.ts'
import type { DeviceGateway, UploadGroup } from '../../../engine/device/gateway.ts'
import type { Entry } from '../../../model/value.ts'
import { Format, pathText, type Path, type ValueRecord } from '../codecs/records.ts'
import { Lwm2mErrors } from '../errors.ts'
import { operationOf } from '../operations.ts'
import type { ReachedClient } from '../reached-client.ts'
import { typedValue } from '../values.ts'
import { UPDATE_LABELS, type UpdateKind } from './kinds.ts'
import type { OfferedPackages } from './offered-packages.ts'
import { packageReader } from './package-reader.ts'

export interface UpdateParts {
  readonly gateway: Pick<DeviceGateway, 'downloadPackage'>
  readonly offered: OfferedPackages
}

/** Of the attributes that name a package. */
const SUFFIXES = ['title', 'version', 'tag', 'url', 'size', 'checksum'] as const
type Suffix = (typeof SUFFIXES)[number]
/** Where one of these changed it is another package. */
const IDENTITY: readonly Suffix[] = ['title', 'version', 'tag', 'url']

interface Wanted extends Readonly<Record<Suffix, string | undefined>> {
  readonly title: string
  readonly version: string
}

type Way = 'address' | 'bytes' | 'container'
/** By the number of the strategy in the profile. */
const WAYS: Readonly<Record<number, Way>> = { 1: 'bytes', 2: 'address', 3: 'container' }
const WAY_BY_DELIVERY: ReadonlyMap<string, Way> = new Map([
  ['0', 'address'],
  ['1', 'bytes'],
])
/** Of object 19: bytes of whatever is agreed on. */
const CONTAINER = { OBJECT: 19, BYTES: [19, 0, 0] } as const
const INITIAL = '0'
const POST = '0.02'
const MAX_RETRIES = 3

export class PackageUpdate {
  private readonly client: ReachedClient
  private readonly kind: UpdateKind
  private readonly parts: UpdateParts
  /** What the client said last of each resource. */
  private readonly said = new Map<string, string | undefined>()
  /** The state that was told last while an update is under way. */
  private told: string | undefined
  private underWay: string | undefined
  /** What is done, or is not tried again. */
  private settled: string | undefined
  private retries = 0
  private checking: 'no' | 'yes' | 'again' = 'no'
  private isClosed = false

  constructor(client: ReachedClient, kind: UpdateKind, parts: UpdateParts) {
    this.client = client
    this.kind = kind
    this.parts = parts
    const { state, result, name, version, running, delivery } = kind
    for (const path of [state, result, name, version, running]) this.said.set(path, undefined)
    if (delivery !== undefined) this.said.set(delivery, undefined)
  }

  /** Whether a change of shared attributes is its business. */
  concerns(entries: readonly Entry[]): boolean {
    return entries.some(({ key }) => IDENTITY.some((each) => key === this.keyOf(each)))
  }

  /** Of what was stored or not: a client's package is known by what the profile reads or observes. */
  heard(records: readonly ValueRecord[]): void {
    for (const { path, value } of records) {
      const text = pathText(path)
      const model = this.said.has(text) ? this.client.modelAt(path) : undefined
      if (model === undefined) continue
      const now = String(typedValue(model.type, value, path).value)
      const before = this.said.get(text)
      this.said.set(text, now)
      if (before === now || this.underWay === undefined) continue
      if (text === this.kind.state) this.stateChanged(now)
      else if (text === this.kind.result) this.resultChanged(now)
    }
  }

  /** Begins where the client is to have another package than it has. */
  async check(): Promise<void> {
    if (this.checking !== 'no') {
      this.checking = 'again'
      return
    }
    try {
      do {
        this.checking = 'yes'
        await this.checkOnce()
      } while (this.isAgain)
    } finally {
      this.checking = 'no'
    }
  }

  /** The registration is over: what was under way is the next one's, with the address at which the client may be loading. */
  close(): void {
    this.isClosed = true
    this.underWay = undefined
  }

  private get isAgain(): boolean {
    return this.checking === 'again'
  }

  private async checkOnce(): Promise<void> {
    const { kind } = this
    if (this.said.get(kind.name) === undefined && this.said.get(kind.version) === undefined) return
    const wanted = await this.wanted()
    if (wanted === undefined) return
    const name = `${wanted.title} ${wanted.version}`
    if (this.isClosed) return
    if (this.underWay === name || this.settled === name) return
    if (this.has(wanted)) {
      if (kind.results.get(this.said.get(kind.result) ?? INITIAL) === 'UPDATED') this.tell('UPDATED')
      return
    }
    if (this.settled !== undefined) this.retries = 0
    this.underWay = name
    this.settled = undefined
    this.told = undefined
    try {
      await this.deliver(wanted)
    } catch (error) {
      // A silent client is tried again when it registers anew.
      this.client.failed(error)
      this.fail(isMillraceError(error) ? errorText(error) : undefined)
    }
  }

  private async wanted(): Promise<Wanted | undefined> {
    const { session } = this.client.registration
    const sharedKeys = SUFFIXES.map((each) => this.keyOf(each))
    const { shared } = await session.requestAttributes({ clientKeys: undefined, sharedKeys })
    const named = new Map(shared.map(({ key, value }) => [key, String(value)]))
    const at = (suffix: Suffix) => named.get(this.keyOf(suffix))
    const [title, version] = [at('title'), at('version')]
    if (title === undefined || version === undefined) return undefined
    return { title, version, tag: at('tag'), url: at('url'), size: at('size'), checksum: at('checksum') }
  }

  private keyOf(suffix: string): string {
    return `${this.kind.prefix}_${suffix}`
  }

  private has({ title, version, tag }: Wanted): boolean {
    const { kind, said } = this
    const running = (said.get(kind.name) ?? '') + (said.get(kind.version) ?? '')
    return running === title + version || running === tag || said.get(kind.running)?.includes(version) === true
  }

  private async deliver(wanted: Wanted): Promise<void> {
    const { kind, client } = this
    const { device } = client.registration.session
    if (client.context.profile.isPackageDescribed) await this.describe(wanted)
    if (kind.uninstall !== undefined && this.said.get(kind.state) === kind.installed)
      this.accepted(await client.ask({ ...executing(kind.uninstall), body: ofText('1') }))
    if (this.underWay === undefined) return
    const way = wanted.url === undefined ? this.way() : 'address'
    const named = { kind: kind.package, title: wanted.title, version: wanted.version }
    if (way === 'address') return this.write(kind.address, wanted.url ?? this.addressOf(named))
    const path: Path = way === 'container' ? CONTAINER.BYTES : kind.bytes
    this.accepted(await client.push(path, packageReader(this.parts.gateway, device, named)))
  }

  private way(): Way {
    const { kind, client } = this
    const delivery = kind.delivery === undefined ? undefined : this.said.get(kind.delivery)
    return WAY_BY_DELIVERY.get(delivery ?? '') ?? WAYS[client.context.profile.strategies[kind.prefix].number] ?? 'bytes'
  }

  /** Where this server has it. Throws NO_ADDRESS, BUSY. */
  private addressOf(named: Parameters<OfferedPackages['offer']>[2]): string {
    const { kind, client } = this
    const { address } = client.context.profile.strategies[kind.prefix]
    if (address === undefined) throw Lwm2mErrors.NO_ADDRESS({ setting: `${kind.prefix}UpdateResource` })
    return address.replace(/\/$/, '') + this.parts.offered.offer(client.registration.session.device, kind.place, named)
  }

  /** Before the package: a client that wants to know what comes reads it in its object 19. */
  private async describe({ title, version, checksum, size }: Wanted): Promise<void> {
    const { kind, client, parts } = this
    const { device } = client.registration.session
    const asked = { kind: kind.package, title, version, size: 1, chunk: 0 }
    const { fileName, release } = await parts.gateway.downloadPackage(device, asked)
    release()
    const text = stringifyJson({
      ...{ title, version, fileName },
      ...(checksum === undefined ? {} : { checksum }),
      ...(size === undefined ? {} : { dataSize: Number(size) }),
    })
    const value = { 0: Buffer.from(Buffer.from(text).toString('base64')).toString('hex') }
    const offered = client.registration.offer.objects.get(CONTAINER.OBJECT)
    const at = `/${CONTAINER.OBJECT}/${kind.infoInstance}`
    if (offered?.instances.includes(kind.infoInstance) === true) return this.write(`${at}/0`, value)
    const params = stringifyJson({ id: at, value: { 0: value } })
    this.accepted(await client.ask(await operationOf('Create', params, client.context)))
  }

  private async write(id: string, value: string | JsonObject): Promise<void> {
    const { client } = this
    const operation = await operationOf('WriteReplace', stringifyJson({ id, value }), client.context)
    this.accepted(await client.ask(operation))
  }

  /** Throws DELIVERY_REFUSED. */
  private accepted({ code }: { readonly code: string }): void {
    if (!code.startsWith('2.')) throw Lwm2mErrors.DELIVERY_REFUSED({ code })
  }

  private stateChanged(state: string): void {
    const { kind } = this
    const name = kind.states.get(state)
    if (name !== undefined) this.tell(name)
    if (state === kind.installable) void this.install()
    // Its result, which may follow, says whether another try may go well.
    else if (kind.isResetTelling && state === INITIAL && this.told === 'DOWNLOADING') this.tell('FAILED')
  }

  private async install(): Promise<void> {
    const answer = await this.client.attempt(executing(this.kind.install))
    if (typeof answer === 'string' || answer.code.startsWith('2.')) return
    this.fail(errorText(Lwm2mErrors.DELIVERY_REFUSED({ code: answer.code })))
  }

  private resultChanged(result: string): void {
    const { kind } = this
    const isReset = kind.isResetTelling && result === INITIAL && this.told === 'UPDATING'
    const name = isReset ? 'UPDATED' : kind.results.get(result)
    if (name === 'UPDATED') return this.succeed()
    if (name !== undefined) return this.tell(name)
    if (Number(result) < kind.leastFailure) return
    if (!kind.worthARetry.has(result) || this.retries >= MAX_RETRIES)
      return this.fail(UPDATE_LABELS.get(kind.result)?.[Number(result)])
    this.retries++
    this.underWay = undefined
    void this.check().catch((error: unknown) => this.client.failed(error))
  }

  private succeed(): void {
    this.tell('UPDATED')
    this.end()
  }

  private fail(reason: string | undefined): void {
    if (this.underWay === undefined) return
    this.tell('FAILED', reason)
    this.end()
  }

  /** It is not done again in this registration: what the client said of its version may be of before. */
  private end(): void {
    this.settled = this.underWay
    this.underWay = undefined
    this.parts.offered.withdraw(this.client.registration.session.device, this.kind.place)
  }

  private tell(state: string, reason?: string): void {
    if (this.told === state) return
    this.told = state
    const entries: Entry[] = [{ key: this.keyOf('state'), type: 'STRING', value: state }]
    if (reason !== undefined) entries.push({ key: this.keyOf('error'), type: 'STRING', value: reason })
    const group: UploadGroup = { ts: undefined, entries }
    this.client.registration.session.postTelemetry([group], {
      stored: () => undefined,
      refused: (error) => this.client.failed(error),
    })
  }
}

function executing(path: Path) {
  return { code: POST, path, query: [] }
}

function ofText(text: string) {
  return { format: Format.TEXT, bytes: Buffer.from(text) }
}
