/** Commands that send a first value of a device, for each protocol that the administrator says is open. Source: `rest-api.md` 15.5. */
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { DeviceCredentials } from '../../model/entities.ts'
import type { DeviceProfile } from '../entities/device-profile.ts'

export const CONNECTIVITY_SETTINGS = 'connectivity'
const PROTOCOLS = ['http', 'https', 'mqtt', 'mqtts', 'coap', 'coaps'] as const
type Protocol = (typeof PROTOCOLS)[number]

interface Endpoint {
  readonly host: string
  readonly port: string
}

export interface Connected {
  readonly credentials: DeviceCredentials
  readonly profile: Pick<DeviceProfile, 'transportType' | 'profileData'>
  /** The administrator's settings `connectivity`. */
  readonly settings: JsonObject
  /** Where the platform is reached, for what the settings leave open. */
  readonly baseUrl: string
}

const TOPIC = 'v1/devices/me/telemetry'
const PAYLOAD = '"{temperature:25}"'
const CA_FILE = 'tb-server-chain.pem'
const DOCKER = 'docker run --rm -it'
const TO_HOST = '--add-host=host.docker.internal:host-gateway'
const MQTT_PORT = 1883
const MQTTS_PORT = 8883
const COAP_PORT = 5683
const CHECK_DOCUMENTATION = 'Check documentation'
const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]', '::1'])

/** Where this process serves devices; absent where others do. */
export interface DevicePorts {
  readonly mqtt?: number | undefined
  readonly mqtts?: number | undefined
  readonly coap?: number | undefined
}

/** Until an administrator saves others. Devices reach what this server serves itself. */
export function connectivityDefaults(baseUrl: string, { mqtt, mqtts, coap }: DevicePorts): JsonObject {
  const { port, protocol } = new URL(baseUrl)
  const isSecure = protocol === 'https:'
  const of = (enabled: boolean, at: string): JsonObject => ({ enabled, host: '', port: at })
  return {
    http: of(!isSecure, isSecure ? '80' : port || '80'),
    https: of(isSecure, isSecure ? port || '443' : '443'),
    mqtt: of(true, String(mqtt ?? MQTT_PORT)),
    mqtts: of(mqtts !== undefined, String(mqtts ?? MQTTS_PORT)),
    coap: of(true, String(coap ?? COAP_PORT)),
    coaps: of(false, '5684'),
  }
}

/** Protocol to command, or to several under their names. */
export function connectivityCommands(connected: Connected): JsonObject {
  const { transportType } = connected.profile
  const open = new Map(
    PROTOCOLS.flatMap((protocol): [Protocol, Endpoint][] => {
      const endpoint = endpointOf(protocol, connected)
      return endpoint === undefined ? [] : [[protocol, endpoint]]
    }),
  )
  const commands: Record<string, JsonValue> = {}
  const put = (name: string, found: JsonObject | undefined): void => {
    if (found !== undefined && Object.keys(found).length > 0) commands[name] = found
  }
  switch (transportType) {
    case 'DEFAULT':
      put('http', httpCommands(connected, open))
      put('mqtt', mqttCommands(connected, open, TOPIC))
      put('coap', coapCommands(connected, open))
      return commands
    case 'MQTT':
      put('mqtt', mqttCommands(connected, open, telemetryTopic(connected)))
      return commands
    case 'COAP':
      put('coap', coapCommands(connected, open))
      return commands
    default:
      return { [transportType.toLowerCase()]: CHECK_DOCUMENTATION }
  }
}

/** Undefined where the administrator does not say that it is open. */
export function endpointOf(protocol: Protocol, { settings, baseUrl }: Connected): Endpoint | undefined {
  const one = settings[protocol]
  if (!isJsonObject(one) || one['enabled'] !== true) return undefined
  const { host, port } = one
  const own = typeof host === 'string' && host.trim() !== '' ? host.trim() : new URL(baseUrl).hostname
  return { host: own, port: typeof port === 'string' ? port : String(Number(port ?? 0) || '') }
}

function httpCommands({ credentials }: Connected, open: ReadonlyMap<Protocol, Endpoint>): JsonObject | undefined {
  if (credentials.credentialsType !== 'ACCESS_TOKEN') return undefined
  return eachOf(['http', 'https'], open, (protocol, { host, port }) => {
    const standard = protocol === 'http' ? '80' : '443'
    const address = `${host}${port === '' || port === standard ? '' : `:${port}`}`
    const url = `${protocol}://${address}/api/v1/${encodeURIComponent(credentials.credentialsId)}/telemetry`
    return `curl -v -X POST ${quoted(url)} --header Content-Type:application/json --data ${PAYLOAD}`
  })
}

function mqttCommands(
  connected: Connected,
  open: ReadonlyMap<Protocol, Endpoint>,
  topic: string,
): JsonObject | undefined {
  const { credentials, baseUrl } = connected
  if (credentials.credentialsType === 'X509_CERTIFICATE') return eachOf(['mqtts'], open, () => CHECK_DOCUMENTATION)
  const login = mqttLogin(credentials)
  if (login === undefined) return undefined
  const download = `curl -f -S -o ${CA_FILE} ${baseUrl}/api/device-connectivity/mqtts/certificate/download`
  const publish = (protocol: string, host: string, port: string): string => {
    const certificate = protocol === 'mqtts' ? ` --cafile ${CA_FILE}` : ''
    const at = `-h ${quoted(host)}${port === '' ? '' : ` -p ${quoted(port)}`}`
    return `mosquitto_pub -d -q 1${certificate} ${at} -t ${quoted(topic)} ${login} -m ${PAYLOAD}`
  }
  const plain = eachOf(['mqtt', 'mqtts'], open, (protocol, { host, port }) =>
    protocol === 'mqtt' ? publish(protocol, host, port) : [download, publish(protocol, host, port)],
  )
  const docker = eachOf(['mqtt', 'mqtts'], open, (protocol, { host, port }) => {
    const command = publish(protocol, hostInDocker(host), port)
    const toHost = LOCAL_HOSTS.has(host) ? ` ${TO_HOST}` : ''
    const image = `${DOCKER}${toHost} eclipse-mosquitto`
    return protocol === 'mqtt' ? `${image} ${command}` : `${image} /bin/sh -c ${single(`${download} && ${command}`)}`
  })
  return Object.keys(plain).length === 0 ? undefined : { ...plain, docker }
}

function coapCommands({ credentials }: Connected, open: ReadonlyMap<Protocol, Endpoint>): JsonObject | undefined {
  if (credentials.credentialsType !== 'ACCESS_TOKEN') return eachOf(['coaps'], open, () => CHECK_DOCUMENTATION)
  return eachOf(['coap', 'coaps'], open, (protocol, { host, port }) => {
    const client = protocol === 'coap' ? 'coap-client' : 'coap-client-openssl'
    const url = `${protocol}://${host}${port === '' ? '' : `:${port}`}/api/v1/${encodeURIComponent(credentials.credentialsId)}/telemetry`
    return `${client} -v 6 -m POST -t "application/json" -e ${PAYLOAD} ${quoted(url)}`
  })
}

function eachOf(
  protocols: readonly Protocol[],
  open: ReadonlyMap<Protocol, Endpoint>,
  command: (protocol: Protocol, endpoint: Endpoint) => JsonValue,
): JsonObject {
  return Object.fromEntries(
    protocols.flatMap((protocol) => {
      const endpoint = open.get(protocol)
      return endpoint === undefined ? [] : [[protocol, command(protocol, endpoint)]]
    }),
  )
}

function mqttLogin({ credentialsType, credentialsId, credentialsValue }: DeviceCredentials): string | undefined {
  if (credentialsType === 'ACCESS_TOKEN') return `-u ${quoted(credentialsId)}`
  if (credentialsType !== 'MQTT_BASIC') return undefined
  const value = parseJson(credentialsValue ?? '{}')
  const members = isJsonObject(value) ? value : {}
  const option = (name: string, member: string): string[] => {
    const text = members[member]
    return typeof text === 'string' && text !== '' ? [`${name} ${quoted(text)}`] : []
  }
  return [...option('-i', 'clientId'), ...option('-u', 'userName'), ...option('-P', 'password')].join(' ')
}

function telemetryTopic({ profile }: Connected): string {
  const transport = profile.profileData?.['transportConfiguration']
  const topic = isJsonObject(transport) ? transport['deviceTelemetryTopic'] : undefined
  return typeof topic === 'string' && topic !== '' ? topic : TOPIC
}

export function hostInDocker(host: string): string {
  return LOCAL_HOSTS.has(host) ? 'host.docker.internal' : host
}

/** Plain words stay as they are; what a shell would read is quoted, as whoever copies the command runs it. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : single(text)
}

function single(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
