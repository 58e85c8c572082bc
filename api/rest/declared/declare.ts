/** Makes routes of declarations: the one place where a call is read, checked and answered. */
import type { Principal } from '../../../model/principal.ts'
import { ENTITY_TYPES, entityId, type EntityId } from '../../../model/entity-id.ts'
import { isMillraceError } from '../../../model/errors.ts'
import type { JsonValue } from '../../../model/json.ts'
import type { AccessControl } from '../../../services/access/access-control.ts'
import { ApiErrors } from '../../errors.ts'
import { validated } from '../body.ts'
import { oneOf, uuidOf, type Query } from '../query.ts'
import { EMPTY_ANSWER, jsonAnswer, type Answer } from '../route.ts'
import type { QuerySchema } from './query.ts'
import { readCall, wordsOf } from './read-call.ts'
import type {
  AnyTarget,
  Call,
  DeclaredRoute,
  Ids,
  RawCall,
  RouteDeclaration,
  Target,
  TargetsOf,
  TypedTarget,
  WordsOf,
} from './route.ts'

/** Reads an entity that the caller was found to be allowed to touch. */
export type TargetLoader = (target: Target, id: string, principal: Principal) => Promise<unknown>

export class RouteMaker {
  private readonly access: AccessControl
  private readonly load: TargetLoader

  constructor(access: AccessControl, load: TargetLoader) {
    this.access = access
    this.load = load
  }

  /** A path with an id and no target for it does not compile. */
  route<
    const Path extends string,
    Targets extends TargetsOf<Path>,
    Query extends QuerySchema,
    Body,
    const Words extends WordsOf<Path> = WordsOf<Path>,
  >(declaration: RouteDeclaration<Path, Targets, Query, Body, Words>): DeclaredRoute {
    const { method, path, about, authorities, targets, query, body, answer } = declaration
    requireTargets(path, targets)
    return {
      method,
      path,
      about,
      authorities,
      targets,
      words: wordsOf(declaration.words),
      query,
      body,
      answer,
      ...(declaration.mayBeEmpty === undefined ? {} : { mayBeEmpty: declaration.mayBeEmpty }),
      ...(declaration.bodyIs === undefined ? {} : { bodyIs: declaration.bodyIs }),
      ...(declaration.headers === undefined ? {} : { headers: declaration.headers }),
      ...(declaration.alsoReads === undefined ? {} : { alsoReads: declaration.alsoReads }),
      ...(declaration.onlyWith === undefined ? {} : { onlyWith: declaration.onlyWith }),
      ...(declaration.example === undefined ? {} : { example: declaration.example }),
      ...(declaration.errorsAsText === undefined ? {} : { errorsAsText: declaration.errorsAsText }),
      ...(declaration.isAboutTheCaller === undefined ? {} : { isAboutTheCaller: declaration.isAboutTheCaller }),
      ...(declaration.setsUpSecondFactor === undefined ? {} : { setsUpSecondFactor: declaration.setsUpSecondFactor }),
      ...(declaration.isGzipped === undefined ? {} : { isGzipped: declaration.isGzipped }),
      ...(declaration.maxBodyBytes === undefined ? {} : { maxBodyBytes: declaration.maxBodyBytes }),
      namesEntity: (ids) => namesEntity(declaration, ids),
      admit: (raw) => this.admit(declaration, raw),
      run: async (raw) => answerOf(await declaration.handle(await this.admit(declaration, raw)), raw.query),
    }
  }

  /** Reads and checks all that the declaration names: what is left for the handler. */
  private async admit<
    Path extends string,
    Targets extends TargetsOf<Path>,
    Asked extends QuerySchema,
    Body,
    Words extends WordsOf<Path>,
  >(
    declaration: RouteDeclaration<Path, Targets, Asked, Body, Words>,
    raw: RawCall,
  ): Promise<Call<Path, Targets, Asked, Body, Words>> {
    const { principal } = raw
    const targets: Readonly<Record<string, AnyTarget>> = declaration.targets
    const path = withIds(raw.path, idNames(targets))
    const { query, body } = readCall(declaration, path, raw)
    const loaded = await this.loadTargets(targets, path, principal)
    for (const { entity, operation } of declaration.queryTargets?.(query) ?? [])
      await this.access.check(principal, operation, entity)
    if (body !== undefined) await this.checkBody(declaration, body, principal)
    const { clientAddress, credentials, header } = raw
    const call = { principal, clientAddress, credentials, path, targets: loaded, query, body, header }
    return call as Call<Path, Targets, Asked, Body, Words>
  }

  private async loadTargets(
    targets: Readonly<Record<string, AnyTarget>>,
    path: Readonly<Record<string, string>>,
    principal: Principal,
  ): Promise<Readonly<Record<string, unknown>>> {
    const loaded: Record<string, unknown> = {}
    for (const [name, target] of Object.entries(targets)) {
      const id = path[name] ?? ''
      if ('untargeted' in target) {
        loaded[name] = id
        continue
      }
      if ('typedBy' in target) {
        const entity = entityId(oneOf(target.typedBy, path[target.typedBy] ?? '', ENTITY_TYPES), id)
        await this.checkTarget(target, entity, principal)
        loaded[name] = entity
        continue
      }
      loaded[name] = await this.loadTarget(target, id, path, principal)
    }
    return loaded
  }

  private async loadTarget(
    target: Target,
    named: string,
    path: Readonly<Record<string, string>>,
    principal: Principal,
  ): Promise<unknown> {
    const { entity: type, operation, otherwise } = target
    // Who may not do it to any is not told which there are.
    if (target.idOf !== undefined) this.access.checkAuthority(principal, operation, type.type)
    const id = target.idOf === undefined ? named : await target.idOf(path, principal)
    if (id === undefined) throw otherwise?.() ?? ApiErrors.NOT_FOUND()
    await this.checkTarget(target, entityId(type.type, id), principal)
    const entity = await this.load(target, id, principal)
    // Gone since it was checked.
    if (entity === undefined) throw ApiErrors.NOT_FOUND_BY_ID({ type: type.label, id })
    return entity
  }

  private async checkTarget(target: Target | TypedTarget, entity: EntityId, principal: Principal): Promise<void> {
    try {
      await this.access.check(principal, target.operation, entity)
    } catch (error) {
      const isGone = isMillraceError(error) && error.status === 404
      if (isGone && 'otherwise' in target && target.otherwise !== undefined) throw target.otherwise()
      throw error
    }
  }

  private async checkBody<Body>(
    { bodyTargets, creates }: Pick<RouteDeclaration<string, object, QuerySchema, Body>, 'bodyTargets' | 'creates'>,
    body: Body,
    principal: Principal,
  ): Promise<void> {
    const created = creates?.(body)
    if (created !== undefined) this.access.checkAuthority(principal, 'CREATE', created)
    for (const { entity, operation } of bodyTargets?.(body) ?? []) await this.access.check(principal, operation, entity)
  }
}

function namesEntity<
  Path extends string,
  Targets extends TargetsOf<Path>,
  Asked extends QuerySchema,
  Body,
  Words extends WordsOf<Path>,
>(
  { targets, queryTargets, body, bodyTargets, example }: RouteDeclaration<Path, Targets, Asked, Body, Words>,
  ids: Ids,
): boolean {
  const named: readonly AnyTarget[] = Object.values(targets)
  if (queryTargets !== undefined || named.some((target) => !('untargeted' in target) || target.isOwned === true))
    return true
  if (body === undefined || bodyTargets === undefined || example === undefined) return false
  return bodyTargets(validated(example(ids), body)).length > 0
}

function idNames(targets: Readonly<Record<string, AnyTarget>>): readonly string[] {
  return Object.keys(targets).filter((name) => {
    const target = targets[name]
    return target === undefined || isUuid(target)
  })
}

/** Others are keys and numbers that the handler knows. */
export function isUuid(target: AnyTarget): boolean {
  return !('idOf' in target) && !('untargeted' in target && target.isText === true)
}

function withIds(path: Readonly<Record<string, string>>, ids: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(path).map(([name, value]) => [name, ids.includes(name) ? uuidOf(name, value) : value]),
  )
}

export function answerOf(result: Answer | JsonValue, query: Query): Answer {
  if (isAnswer(result)) return result
  query.requireWhole(result)
  return jsonAnswer(result)
}

const ANSWERS = new WeakSet<object>([EMPTY_ANSWER])

/** Marks what a handler says about status and type itself, so that no JSON of an entity is taken for it. */
export function rawAnswer(answer: Answer): Answer {
  ANSWERS.add(answer)
  return answer
}

/** To a page. */
export function redirectAnswer(location: string): Answer {
  return rawAnswer({ status: 303, contentType: undefined, body: '', headers: { Location: location } })
}

function isAnswer(result: Answer | JsonValue): result is Answer {
  return typeof result === 'object' && result !== null && ANSWERS.has(result)
}

/** For paths that are put together: the compiler sees no parameters in them. */
export function requireTargets(path: string, targets: Readonly<Record<string, unknown>>): void {
  for (const [, name = ''] of path.matchAll(/\{(\w+Id)\}/g)) {
    if (!Object.hasOwn(targets, name)) throw new TypeError(`${path} names ${name} and no target for it`)
  }
}
