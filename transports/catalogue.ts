/** The device protocols: one line each. */
import { coap } from './coap/transport.ts'
import { httpDeviceApi } from './http/transport.ts'
import { lwm2m } from './lwm2m/transport.ts'
import { mqtt } from './mqtt/transport.ts'

export const TRANSPORTS = [mqtt, coap, lwm2m, httpDeviceApi] as const

/** All of a union's members in one: what a value must have to be each of them. */
type Together<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never

type TransportSetting = Together<(typeof TRANSPORTS)[number]['settings']>

/** The settings of all protocols, for the one schema of the configuration. */
export const TRANSPORT_SETTINGS = Object.assign({}, ...TRANSPORTS.map(({ settings }) => settings)) as TransportSetting
