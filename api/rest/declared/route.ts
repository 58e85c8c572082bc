/**
 * One REST call as a declaration: where it is, who may call it, what it takes and answers, and which entities it names. Everything that is
 * named is loaded and checked before the handler runs; validation, the API description, and the walk of the security tests follow from
 * the same declaration.
 */
import type { z } from 'zod'
import type { Authority } from '../../../model/entities.ts'
import type { EntityId, EntityType } from '../../../model/entity-id.ts'
import type { JsonObject, JsonValue } from '../../../model/json.ts'
import type { Principal } from '../../../model/principal.ts'
import type { Operation } from '../../../services/access/permissions.ts'
import type { HttpMethod } from '../../../server/http-server.ts'
import type { Answer } from '../route.ts'
import type { FormMembers } from '../form.ts'
import type { Query } from '../query.ts'
import type { QuerySchema, QueryValues } from './query.ts'

/** `/api/asset/{assetId}` has the parameter `assetId`. */
export type ParametersOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParametersOf<Rest>
  : never
/** Those that are ids of entities. */
type IdParametersOf<Path extends string> = Extract<ParametersOf<Path>, `${string}Id`>

/** Of parameters that are no ids: the few words that each may be. */
export type WordsOf<Path extends string> = Readonly<Partial<Record<ParametersOf<Path>, readonly string[]>>>

/** An entity type whose records the target hands to the handler. */
export interface TargetType<Entity> {
  readonly type: EntityType
  /** As messages name it. */
  readonly label: string
  /** Only a mark for the compiler: what {@link Target.entity} loads. */
  readonly loads?: Entity
}

/** An entity that the call names: it must be there, and the caller must be allowed to do this to it. */
export interface Target<Entity = unknown> {
  readonly entity: TargetType<Entity>
  readonly operation: Operation
  /** What a call is told that names none, in the place of the usual words. */
  readonly otherwise?: () => Error
  /** Which one is meant, where the path names it by another thing than its id; undefined for none. */
  readonly idOf?: (path: Readonly<Record<string, string>>, principal: Principal) => Promise<string | undefined>
}

/** An entity whose type the path names too: `/{entityType}/{entityId}`. The handler gets its address. */
export interface TypedTarget {
  /** The parameter that holds the type. */
  readonly typedBy: string
  readonly operation: Operation
}

/** An id that names no entity of its own, with the reason; the handler checks what it stands for. */
export interface Untargeted {
  readonly untargeted: string
  /** It names something of one tenant all the same: who may not see it is told that it is not there. */
  readonly isOwned?: true
  /** It is no UUID: the handler gets it as it came. */
  readonly isText?: true
}

export type AnyTarget = Target | TypedTarget | Untargeted
export type TargetsOf<Path extends string> = Readonly<Record<IdParametersOf<Path>, AnyTarget>>
type Loaded<Targets> = {
  readonly [Name in keyof Targets]: Targets[Name] extends TypedTarget
    ? EntityId
    : Targets[Name] extends Target<infer Entity>
      ? Entity
      : string
}

/** Decoded parameters; ids are lower case, words are among those declared. */
type PathValues<Path extends string, Words> = {
  readonly [Name in ParametersOf<Path>]: Name extends keyof Words
    ? Words[Name] extends readonly (infer Word extends string)[]
      ? Word
      : string
    : string
}

/** A call of whoever it is. */
export interface OpenCall<Path extends string, Asked extends QuerySchema, Body, Words = object> {
  readonly clientAddress: string
  /** As `PublicCall` has them. */
  readonly credentials: string
  readonly path: PathValues<Path, Words>
  readonly query: QueryValues<Asked>
  readonly body: Body
  /** Of those that the declaration names. */
  readonly header: (name: string) => string
}

export interface Call<Path extends string, Targets, Asked extends QuerySchema, Body, Words = object> extends OpenCall<
  Path,
  Asked,
  Body,
  Words
> {
  readonly principal: Principal
  /** The entities that the path names; for what is untargeted its id. */
  readonly targets: Loaded<Targets>
}

/** An entity that body or query name, such as the one that a save changes; undefined where it names none. */
export interface BodyTarget {
  readonly entity: EntityId
  readonly operation: Operation
}

/** What every declaration says, whoever may call. */
interface CommonDeclaration<Path extends string, Asked extends QuerySchema, Body, Words extends WordsOf<Path>> {
  readonly method: HttpMethod
  readonly path: Path
  /** One line: what it does. */
  readonly about: string
  /** Others than these are refused. */
  readonly words?: Words
  readonly query: Asked
  /** Header fields that the call must have. */
  readonly headers?: readonly string[]
  /** Header fields that the handler reads where they are there, beside those that any may. */
  readonly alsoReads?: readonly string[]
  readonly body: z.ZodType<Body> | undefined
  /** `text`: the body is no JSON but the text itself. `optional`: none at all is as good as `{}`. `json-text`: the handler reads the JSON itself, with refusals of its own. */
  readonly bodyIs?: BodyForm
  /** Where it is not the server's bound. */
  readonly maxBodyBytes?: number
  /** JSON schema of the answer; undefined for an empty one. */
  readonly answer: JsonObject | undefined
  /** Where there is nothing to answer, the answer has neither body nor content type: a description can not say both. */
  readonly mayBeEmpty?: boolean
  /** A good body; ids by the names that paths give them (`deviceId`). Shown in the API description, sent by the walk of the security tests. */
  readonly example?: (ids: Ids) => JsonValue
}

export interface RouteDeclaration<
  Path extends string,
  Targets extends TargetsOf<Path>,
  Asked extends QuerySchema,
  Body,
  Words extends WordsOf<Path> = WordsOf<Path>,
> extends CommonDeclaration<Path, Asked, Body, Words> {
  readonly authorities: readonly Authority[]
  /** One for each id in the path; may be left out where there is none. */
  readonly targets: Targets
  /** Only where these parameters are sent: two calls may share a path. */
  readonly onlyWith?: readonly string[]
  /** Of the query's ids. */
  readonly queryTargets?: (query: QueryValues<Asked>) => readonly BodyTarget[]
  /** Of the body's ids. */
  readonly bodyTargets?: (body: Body) => readonly BodyTarget[]
  /** Where the body makes something new: what the caller must be allowed to create. */
  readonly creates?: (body: Body) => EntityType | undefined
  readonly errorsAsText?: boolean
  /** It shows and changes nothing but the caller's own: whoever is logged in may. */
  readonly isAboutTheCaller?: boolean
  /** Who gave the password and must still set up a second factor may call it too. */
  readonly setsUpSecondFactor?: boolean
  /** Its answer may be large: it is packed for clients that take it so. */
  readonly isGzipped?: boolean
  readonly handle: (call: Call<Path, Targets, Asked, Body, Words>) => Promise<Answer | JsonValue>
}

/** A call for everybody. It names no entity by its id: nobody is there whose rights could be looked at. */
export interface OpenDeclaration<
  Path extends string,
  Asked extends QuerySchema,
  Body,
  Words extends WordsOf<Path> = WordsOf<Path>,
> extends CommonDeclaration<Path, Asked, Body, Words> {
  /** Which token it takes, where it takes one that logs nobody in: the handler reads it. */
  readonly token?: string
  /** Answers 303: browsers follow it to a page. */
  readonly redirects?: true
  /** What it answers besides, by status, with the same schema. */
  readonly alsoAnswers?: Readonly<Record<number, string>>
  /** What a call is told whose body is not valid, in the place of what is wrong with it. */
  readonly bodyFault?: (cause: Error) => Error
  readonly handle: (call: OpenCall<Path, Asked, Body, Words>) => Promise<Answer | JsonValue>
}

export type BodyForm = 'text' | 'json-text' | 'form' | 'optional'

/** Of things that are there, by the names that paths give them. */
export type Ids = Readonly<Record<string, string>>

/** A route whatever its types: what tables and walks hold. */
interface DeclaredCall {
  readonly method: HttpMethod
  readonly path: string
  readonly about: string
  readonly targets: Readonly<Record<string, AnyTarget>>
  readonly words: Readonly<Record<string, readonly string[]>>
  readonly query: QuerySchema
  readonly headers?: readonly string[]
  readonly alsoReads?: readonly string[]
  readonly body: z.ZodType | undefined
  readonly bodyIs?: BodyForm
  readonly answer: JsonObject | undefined
  readonly mayBeEmpty?: boolean
  readonly example?: (ids: Ids) => JsonValue
  readonly maxBodyBytes?: number
}

/** Of users who are logged in. */
export interface DeclaredRoute extends DeclaredCall {
  readonly authorities: readonly Authority[]
  readonly onlyWith?: readonly string[]
  readonly errorsAsText?: boolean
  readonly isAboutTheCaller?: boolean
  readonly setsUpSecondFactor?: boolean
  readonly isGzipped?: boolean
  /** Whether a call of it with the example names something that is there already, in path or body. */
  namesEntity(ids: Ids): boolean
  /** Throws for a body or a query that is not valid, for what is not there and for what is not allowed. Does nothing else. */
  admit(raw: RawCall): Promise<unknown>
  /** Throws as {@link admit}; nothing is done then. */
  run(raw: RawCall): Promise<Answer>
}

/** Of everybody. */
export interface DeclaredOpenRoute extends DeclaredCall {
  readonly authorities: 'public'
  readonly token?: string
  readonly redirects?: true
  readonly alsoAnswers?: Readonly<Record<number, string>>
  /** Throws for a body or a query that is not valid; nothing is done then. */
  run(raw: RawOpenCall): Promise<Answer>
}

export type AnyDeclared = DeclaredRoute | DeclaredOpenRoute

export interface RawOpenCall {
  readonly clientAddress: string
  readonly credentials: string
  readonly path: Readonly<Record<string, string>>
  readonly query: Query
  readonly header: (name: string) => string
  readonly text: () => string
  /** Parsed when asked for. Throws `parameter.BODY_…`. */
  readonly body: () => JsonValue
  /** The parts of a form. Throws `parameter.BODY_INVALID`. */
  readonly form: () => FormMembers
}

export interface RawCall extends RawOpenCall {
  readonly principal: Principal
}
