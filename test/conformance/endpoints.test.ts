/**
 * Each endpoint of the reference that this server is to have is there, and each call that the API description names answers 2xx, with the
 * members that the reference names, in a world that has one of each thing. The list of endpoints is no part of the project: without it this is
 * a printed skip.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorText } from '../../model/errors.ts'
import { bodyOfDeclared, callsOf, declaredQuery, pathOf, type Walked } from '../security/calls.ts'
import type { DeclaredRoute } from '../../api/rest/declared/route.ts'
import { openRestWorld, type RestWorld } from '../security/rest-world.ts'
import { testOutbound } from '../../services/outbound/testkit.ts'
import { KNOWN_GAPS, NOT_SERVED } from './endpoint-gaps.ts'
import { PREPARATIONS, type Prepared } from './endpoint-preparations.ts'
import { areEndpointsThere, placeOf, Reference, type Endpoint } from './reference-endpoints.ts'

const skip = areEndpointsThere ? false : "the reference's endpoints are not beside this checkout"
const ANSWER_MS = 60_000
/** A call to a device, or a reply of the rule engine, is awaited, and this world has neither: the recorded cases play these. */
const WAITS_FOR_DEVICES = /^\/api\/(plugins\/)?rpc\/(oneway|twoway)|^\/api\/rule-engine/
/** Served by the device API of the transports, which their own tests call. */
const isOfDevices = ({ auth, path }: Endpoint): boolean => auth.includes('DEVICE') || path.startsWith('/api/v1/')

test('the endpoints of the reference are served, but for those that are listed', { skip }, async () => {
  const world = await openRestWorld()
  const served = new Set(world.routes.map(({ method, pattern }) => placeOf(method, pattern)))
  await world.close()
  const wanted = new Reference().endpoints.filter((endpoint) => endpoint.wanted !== 'later' && !isOfDevices(endpoint))
  assert.ok(wanted.length > 400)
  const missing = wanted.map(({ method, path }) => placeOf(method, path)).filter((place) => !served.has(place))
  assert.deepEqual([...new Set(missing)].toSorted(), [...NOT_SERVED].toSorted())
})

test(
  'each call that is described answers 2xx, those of the reference with the members that it names',
  { skip, timeout: 600_000 },
  async (context) => {
    const reference = new Reference()
    const findings = new Map<string, string>()
    let called = 0
    let world = await openRestWorld({ outbound: testOutbound() })
    context.after(() => world.close())
    for (const [endpoint, walked] of ['GET', 'POST', 'PUT', 'DELETE'].flatMap((method) =>
      declaredOf(world, reference, method),
    )) {
      called++
      if ((await findingOf(world, reference, endpoint, walked)) === undefined) continue
      // A call before it may have changed or taken away what it needs.
      await world.close()
      world = await openRestWorld({ outbound: testOutbound() })
      const finding = await findingOf(world, reference, endpoint, walked)
      if (finding !== undefined) findings.set(nameOf(endpoint), finding)
    }
    assert.ok(called > 450, `only ${called} calls were made`)
    context.diagnostic(`${called} declared calls were made`)
    for (const [name, text] of findings) if (!KNOWN_GAPS.has(name)) context.diagnostic(`${name}: ${text}`)
    assert.deepEqual([...findings.keys()].toSorted(), [...KNOWN_GAPS.keys()].toSorted())
  },
)

test(
  'every value that the reference lists for a parameter is taken, each column of a list to sort by among them',
  { skip, timeout: 600_000 },
  async (context) => {
    const world = await openRestWorld()
    context.after(() => world.close())
    const refused: string[] = []
    let called = 0
    for (const [endpoint, walked] of declaredOf(world, new Reference(), 'GET')) {
      if (KNOWN_GAPS.has(nameOf(endpoint))) continue
      for (const { name, in: place, enum: values = [] } of endpoint.params ?? []) {
        if (place !== 'query') continue
        // One of them lists both orders as one value.
        for (const value of values.flatMap((text) => text.split(', '))) {
          called++
          const { status, text } = await answerOf(world, endpoint, walked, { [name]: value })
          if (status !== 200) refused.push(`${nameOf(endpoint)} with ${name}=${value}: ${status} ${text.slice(0, 120)}`)
        }
      }
    }
    context.diagnostic(`${called} values were sent`)
    assert.ok(called > 500)
    assert.deepEqual(refused, [])
  },
)

function nameOf({ method, path, onlyWith }: Endpoint): string {
  return `${method} ${path}${onlyWith === undefined ? '' : `?${onlyWith.join('&')}`}`
}

function declaredOf(world: RestWorld, { endpoints }: Reference, wantedMethod: string) {
  const calls = world.routes.flatMap(callsOf)
  const wanted = endpoints.filter(({ method, wanted: when }) => when !== 'later' && method === wantedMethod)
  const known = wanted.flatMap((endpoint): (readonly [Endpoint, Walked])[] => {
    const place = placeOf(endpoint.method, endpoint.path)
    const onlyWith = (endpoint.onlyWith ?? []).join()
    const here = calls.filter(({ route }) => placeOf(route.method, route.pattern) === place)
    const walked = here.find(({ declared }) => (declared?.onlyWith ?? []).join() === onlyWith) ?? here[0]
    return walked === undefined ? [] : [[endpoint, walked]]
  })
  const walked = new Set(known.map(([, { declared }]) => declared))
  const others = calls.filter(({ route, declared }) => route.method === wantedMethod && !walked.has(declared))
  return [...known, ...others.map((call) => [ownEndpoint(call), call] as const)]
}

/** Of a call that the reference does not have, or has for later. */
function ownEndpoint({ declared }: Walked): Endpoint {
  const { method, path, onlyWith } = declared
  return { method, path, tag: '', wanted: 'yes', auth: [], ...(onlyWith === undefined ? {} : { onlyWith }) }
}

async function findingOf(world: RestWorld, reference: Reference, endpoint: Endpoint, walked: Walked) {
  if (WAITS_FOR_DEVICES.test(endpoint.path)) return undefined
  const { status, type, text } = await answerOf(world, endpoint, walked)
  if (status < 200 || status > 299) return `${status} ${text.slice(0, 200)}`
  if (endpoint.res === undefined || !type.includes('json') || text === '') return undefined
  const missing = reference.missing(endpoint.res, JSON.parse(text))
  return missing.length === 0 ? undefined : `without ${missing.slice(0, 8).join(', ')}`
}

interface Answered {
  readonly status: number
  readonly type: string
  readonly text: string
}

async function answerOf(
  world: RestWorld,
  endpoint: Endpoint,
  { route, declared }: Walked,
  asked: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  let prepared: Prepared
  try {
    prepared = (await PREPARATIONS.get(nameOf(endpoint))?.(world)) ?? {}
  } catch (error) {
    return { status: 0, type: '', text: `its preparation failed: ${errorText(error)}` }
  }
  const ids = { ...world.ids, ...prepared.ids }
  const path = pathOf({ route, declared }, ids)
  const query = new URLSearchParams(declaredQuery(declared, ids))
  for (const [name, value] of Object.entries({ ...prepared.query, ...asked })) query.set(name, value)
  const token = tokenFor(world, { route, declared })
  const sent = prepared.form ?? bodyOf(declared, prepared, ids)
  const response = await fetch(`${world.url}${path}?${query.toString()}`, {
    method: route.method,
    signal: AbortSignal.timeout(ANSWER_MS),
    headers: { ...(token === undefined ? {} : { 'x-authorization': `Bearer ${token}` }), ...prepared.headers },
    ...(sent === undefined ? {} : { body: sent }),
  })
  const type = response.headers.get('content-type') ?? ''
  return { status: response.status, type, text: await response.text() }
}

function bodyOf(declared: DeclaredRoute, { body }: Prepared, ids: Readonly<Record<string, string>>) {
  if (declared.body === undefined) return undefined
  return body === undefined ? bodyOfDeclared(declared, ids).body : JSON.stringify(body)
}

function tokenFor(world: RestWorld, walked: Walked): string | undefined {
  const { authorities } = walked.declared
  if (authorities.includes('TENANT_ADMIN')) return world.tenant
  if (authorities.includes('SYS_ADMIN')) return world.systemAdministrator
  return authorities.includes('CUSTOMER_USER') ? world.customer : undefined
}
