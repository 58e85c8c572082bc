/** Where a request goes (`device-api.md` 12). The name of a feature may be in any case; what follows it is disregarded. */
import type { PackageRequest } from '../../engine/device/gateway.ts'
import { CoapErrors } from './errors.ts'
import { GET, POST } from '../coap-messages/message.ts'

export const FEATURES = ['telemetry', 'attributes', 'rpc', 'claim'] as const
export type Feature = (typeof FEATURES)[number]

export type Place =
  | { readonly kind: 'provision' }
  | { readonly kind: 'package'; readonly token: string; readonly package: PackageRequest['kind'] }
  | {
      readonly kind: 'feature'
      readonly token: string
      readonly feature: Feature
      /** Of a call that is answered. */
      readonly id: string | undefined
    }

/** Throws what the request is answered with. */
export function placeOf(code: string, path: readonly string[]): Place {
  const [root = '', second = '', ...rest] = path
  if (root === 'fw' || root === 'sw') {
    allow(code, [GET])
    if (second === '') throw CoapErrors.NO_TOKEN()
    return { kind: 'package', token: second, package: root === 'fw' ? 'FIRMWARE' : 'SOFTWARE' }
  }
  if (root !== 'api' || second !== 'v1') throw CoapErrors.UNKNOWN_PATH()
  allow(code, [GET, POST])
  const [token = '', name, id] = rest
  if (token.toLowerCase() === 'provision' && name === undefined) {
    if (code !== POST) throw CoapErrors.NOT_READABLE({ name: 'provision' })
    return { kind: 'provision' }
  }
  if (name === undefined && featureOf(token) === undefined) throw CoapErrors.UNKNOWN_FEATURE({ name: token })
  if (name === undefined || token === '') throw CoapErrors.NO_TOKEN()
  const feature = featureOf(name)
  if (feature === undefined) throw CoapErrors.UNKNOWN_FEATURE({ name })
  return { kind: 'feature', token, feature, id: id === '' ? undefined : id }
}

/** A device that showed its certificate needs no token in the path. Source: `device-api.md` 12. */
export function isWithoutToken([root, version, feature = '']: readonly string[]): boolean {
  return root === 'api' && version === 'v1' && featureOf(feature) !== undefined
}

function featureOf(name: string): Feature | undefined {
  const lower = name.toLowerCase()
  return FEATURES.find((feature) => feature === lower)
}

function allow(code: string, methods: readonly string[]): void {
  if (methods.includes(code)) return
  throw CoapErrors.WRONG_METHOD({ allowed: methods.map((method) => (method === GET ? 'GET' : 'POST')).join(', ') })
}
