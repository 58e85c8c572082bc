/** Declared routes as rows of the route table: what shares method and path becomes one row that looks at the parameters. */
import { requireAuthority } from '../authorize.ts'
import { formOf } from '../form.ts'
import { gzipped } from '../gzipped.ts'
import type { Query } from '../query.ts'
import type { PublicCall } from '../route.ts'
import type { DeclaredRow, OpenRow, RestRoute } from '../rows.ts'
import type { DeclaredOpenRoute, DeclaredRoute, RawOpenCall } from './route.ts'

export function isDeclared(route: RestRoute): route is DeclaredRow | OpenRow {
  return 'declared' in route
}

export function tableRows(routes: readonly DeclaredRoute[]): readonly DeclaredRow[] {
  const byPlace = new Map<string, DeclaredRoute[]>()
  for (const route of routes) {
    const place = `${route.method} ${patternOf(route.path)}`
    byPlace.set(place, [...(byPlace.get(place) ?? []), route])
  }
  return [...byPlace.values()].map(rowOf)
}

/** Of calls for everybody: each has a place of its own. */
export function openRows(routes: readonly DeclaredOpenRoute[]): readonly OpenRow[] {
  return routes.map((route) => {
    const names = namesIn(route.path)
    return {
      method: route.method,
      pattern: patternOf(route.path),
      authorities: 'public',
      declared: [route],
      handle: (call) => route.run(rawCallOf(call, names)),
    }
  })
}

function rowOf(routes: readonly DeclaredRoute[]): DeclaredRow {
  const [first] = routes
  if (first === undefined) throw new TypeError('a row of no routes')
  // Who may call any of them gets in; each is asked again below.
  const authorities = [...new Set(routes.flatMap((route) => route.authorities))]
  const bySpecial = [...routes].sort((a, b) => (b.onlyWith?.length ?? 0) - (a.onlyWith?.length ?? 0))
  const names = namesIn(first.path)
  return {
    method: first.method,
    pattern: patternOf(first.path),
    authorities,
    declared: routes,
    ...largestBody(routes),
    ...(routes.every(({ setsUpSecondFactor }) => setsUpSecondFactor === true) ? { setsUpSecondFactor: true } : {}),
    ...(first.errorsAsText === undefined ? {} : { errorsAsText: first.errorsAsText }),
    handle: async (call) => {
      const route = bySpecial.find((candidate) => isMeant(candidate, call.query)) ?? first
      requireAuthority(call.principal, route.authorities)
      const answer = await route.run({ ...rawCallOf(call, names), principal: call.principal })
      return route.isGzipped === true ? gzipped(answer, call.header('accept-encoding')) : answer
    },
  }
}

function largestBody(routes: readonly DeclaredRoute[]): { readonly maxBodyBytes?: number } {
  const bounds = routes.flatMap(({ maxBodyBytes }) => maxBodyBytes ?? [])
  return bounds.length === 0 ? {} : { maxBodyBytes: Math.max(...bounds) }
}

function isMeant({ onlyWith = [] }: DeclaredRoute, query: Query): boolean {
  return onlyWith.every((name) => query.has(name))
}

function namesIn(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

function rawCallOf(call: PublicCall, names: readonly string[]): RawOpenCall {
  return {
    credentials: call.credentials,
    clientAddress: call.clientAddress,
    path: Object.fromEntries(names.map((name, index) => [name, call.parameter(index)])),
    query: call.query,
    header: (name: string) => call.header(name),
    text: () => call.text(),
    body: () => call.json(),
    form: () => formOf(call.header('content-type'), call.bytes()),
  }
}

/** `/api/asset/{assetId}` as the HTTP server takes it. */
function patternOf(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}
