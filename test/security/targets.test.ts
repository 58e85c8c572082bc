/**
 * Takes the check of each target of each declared route away, one after the other: what is left refuses nothing, so the walk of the routes finds
 * every check that is missing. And of several checks each alone refuses what is a stranger's. Routes are called without a socket, and but for
 * those that read no handler runs.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { DeclaredRoute, RawCall } from '../../api/rest/declared/route.ts'
import { formOf } from '../../api/rest/form.ts'
import { Query } from '../../api/rest/query.ts'
import { isMillraceError } from '../../model/errors.ts'
import { parseJson } from '../../model/json.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { Principal } from '../../model/principal.ts'
import type { AccessControl } from '../../services/access/access-control.ts'
import type { Operation } from '../../services/access/permissions.ts'
import { bodyOfDeclared, callsOf, declaredQuery, pathOf, type Walked } from './calls.ts'
import { openRestWorld, type RestWorld } from './rest-world.ts'

/** Makes only the checks that it is told to; authority alone is asked for as ever. */
class PartialAccess implements AccessControl {
  readonly asked = new Set<string>()
  private readonly whole: AccessControl
  private made: (check: string) => boolean = () => true

  constructor(whole: AccessControl) {
    this.whole = whole
  }

  make(made: (check: string) => boolean): void {
    this.made = made
    this.asked.clear()
  }

  checkAuthority(...args: Parameters<AccessControl['checkAuthority']>): void {
    this.whole.checkAuthority(...args)
  }

  allowed: AccessControl['allowed'] = (principal, operation, entityType, entities) =>
    this.whole.allowed(principal, operation, entityType, entities)

  async check(principal: Principal, operation: Operation, entity: EntityId): Promise<void> {
    const check = `${operation} ${entity.entityType} ${entity.id}`
    this.asked.add(check)
    if (this.made(check)) await this.whole.check(principal, operation, entity)
  }
}

describe('the checks of declared routes', { timeout: 600_000 }, () => {
  let world: RestWorld
  let access: PartialAccess
  let walked: readonly Walked[]

  before(async () => {
    world = await openRestWorld()
    access = new PartialAccess(world.platform.services.access)
    walked = world
      .routesWith(access)
      .flatMap(callsOf)
      .filter(({ declared }) => declared.isAboutTheCaller !== true && declared.authorities.includes('TENANT_ADMIN'))
  })
  after(() => world.close())

  async function rawOf({ route, declared }: Walked): Promise<RawCall> {
    const { ids, otherPrincipal, url } = world
    const values = pathOf({ route, declared }, ids).split('/')
    const names = declared.path.split('/').map((part) => /^\{(\w+)\}$/.exec(part)?.[1])
    const request = new Request(url, { method: 'POST', ...bodyOfDeclared(declared, ids) })
    const bytes = Buffer.from(await request.arrayBuffer())
    const text = bytes.toString()
    const header = (name: string) => request.headers.get(name) ?? 'x'
    return {
      principal: otherPrincipal,
      clientAddress: '127.0.0.1',
      credentials: '',
      path: Object.fromEntries(
        names.flatMap((name, place) => (name === undefined ? [] : [[name, decodeURIComponent(values[place] ?? '')]])),
      ),
      query: new Query(declaredQuery(declared, ids)),
      header,
      text: () => text,
      body: () => parseJson(text),
      form: () => formOf(header('content-type'), bytes),
    }
  }

  const nameOf = ({ method, path, onlyWith = [] }: DeclaredRoute) => `${method} ${path} ${onlyWith.join()}`
  /** As the walk sees it. */
  const isRefusal = (error: unknown) => isMillraceError(error) && (error.status === 403 || error.status === 404)

  /** `done`, `refused`, or what else went wrong. */
  async function outcome(work: Promise<unknown>): Promise<string> {
    try {
      await work
      return 'done'
    } catch (error) {
      return isRefusal(error) ? 'refused' : String(error)
    }
  }

  test('each refuses alone what is a stranger’s, and without them nothing does', async (context) => {
    let removed = 0
    const wrong: string[] = []
    for (const each of walked) {
      const { declared } = each
      const raw = await rawOf(each)
      if (isNamedByKey(declared)) {
        wrong.push(...(await findingsOfKey(declared, raw)))
        continue
      }
      access.make(() => false)
      const unchecked = await outcome(declared.admit(raw))
      if (unchecked !== 'done') wrong.push(`${nameOf(declared)}: refused without any check: ${unchecked}`)
      const checks = [...access.asked]
      for (const [parameter, target] of Object.entries(declared.targets)) {
        const id = raw.path[parameter] ?? ''
        const isMade = 'untargeted' in target || checks.some((check) => check.endsWith(` ${id}`))
        if (!isMade) wrong.push(`${nameOf(declared)}: nothing is asked about ${parameter}`)
      }
      for (const check of checks) {
        if (isAboutTheOwn(check)) continue
        removed++
        access.make((candidate) => candidate === check)
        const checked = await outcome(declared.admit(raw))
        if (checked !== 'refused') wrong.push(`${nameOf(declared)}: ${check} refuses nothing: ${checked}`)
      }
    }
    context.diagnostic(`${removed} checks of ${walked.length} calls were taken away`)
    assert.deepEqual(wrong, [])
    assert.ok(removed > 180)
  })

  test('what reads shows a stranger its things once its checks are gone, which the walk of the routes sees', async (context) => {
    const heldElsewhere: string[] = []
    let seen = 0
    for (const each of walked) {
      const { declared } = each
      if (declared.method !== 'GET' || !declared.namesEntity(world.ids)) continue
      const raw = await rawOf(each)
      access.make(() => false)
      const found = await outcome(declared.run(raw))
      if (found === 'refused') heldElsewhere.push(nameOf(declared))
      else seen++
    }
    context.diagnostic(`${seen} seen; refused by a second door: ${heldElsewhere.join('; ')}`)
    assert.ok(seen > 60)
  })

  /** A key is looked up among the caller's own: a stranger finds nothing, checked or not. What is found is asked about. */
  async function findingsOfKey(declared: DeclaredRoute, raw: RawCall): Promise<readonly string[]> {
    access.make(() => false)
    const stranger = await outcome(declared.admit(raw))
    const owner = await outcome(declared.admit({ ...raw, principal: world.platform.tenant }))
    const asked = access.asked.size
    if (stranger === 'refused' && owner === 'done' && asked === 1) return []
    return [`${nameOf(declared)}: by its key ${stranger} to a stranger, ${owner} to its owner, asked about ${asked}`]
  }

  function isNamedByKey({ targets }: DeclaredRoute): boolean {
    return Object.values(targets).some((target) => 'idOf' in target)
  }

  /** Of a caller's own user or tenant, which an example names for want of another. */
  function isAboutTheOwn(check: string): boolean {
    return check.endsWith(` ${world.otherPrincipal.userId}`) || check.endsWith(` ${world.otherTenantId}`)
  }
})
