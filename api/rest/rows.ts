/** The rows of the route table: what is declared, and the few things beside the API that are not. */
import type { Authority } from '../../model/entities.ts'
import type { HttpMethod } from '../../server/http-server.ts'
import type { DeclaredOpenRoute, DeclaredRoute } from './declared/route.ts'
import type { Answer, PublicCall, UserCall } from './route.ts'

interface RouteShape {
  readonly method: HttpMethod
  /** As `HttpServer.route` takes it. */
  readonly pattern: string
}

interface PublicRoute extends RouteShape {
  readonly authorities: 'public'
  handle(call: PublicCall): Promise<Answer>
}

/** Made of a declaration. */
export interface OpenRow extends PublicRoute {
  readonly declared: readonly [DeclaredOpenRoute]
}

/** A page or a file: nothing of the API, and nothing about what is stored. */
export interface UndeclaredRoute extends PublicRoute {
  /** Why it is no declaration. */
  readonly undeclared: UndeclaredReason
}

/** Every reason there is: another one is a new kind of thing, beside the API. */
export const UNDECLARED_REASONS = {
  page: 'a page for browsers: it holds nothing, and shows what calls answer to who logged in there',
  file: 'a file of such a page, by its name',
  description: 'the description itself, and the page that shows it',
  metrics: 'read by Prometheus in its own text format; its guard asks for the address or the token of an operator',
} as const
export type UndeclaredReason = keyof typeof UNDECLARED_REASONS

/** Made of the declarations that share method and path. */
export interface DeclaredRow extends RouteShape {
  readonly declared: readonly DeclaredRoute[]
  /** Who may call it at all; what they may do to which entity the handler asks of access control. */
  readonly authorities: readonly Authority[]
  /** The telemetry calls answer their own errors as bare text (`rest-api.md` 2.6). */
  readonly errorsAsText?: boolean
  /** Where it is not the server's bound. */
  readonly maxBodyBytes?: number
  /** Who gave the password and must still set up a second factor may call it too. */
  readonly setsUpSecondFactor?: boolean
  handle(call: UserCall): Promise<Answer>
}

export type RestRoute = DeclaredRow | OpenRow | UndeclaredRoute
