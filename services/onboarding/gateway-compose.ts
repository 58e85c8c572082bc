/**
 * A file for Docker Compose that runs the reference's IoT Gateway as a device of this platform. Source: `rest-api.md` 15.5; names of variables
 * from the gateway's documentation.
 */
import { isJsonObject, parseJson } from '../../model/json.ts'
import type { DeviceCredentials } from '../../model/entities.ts'
import { endpointOf, hostInDocker, type Connected } from './connectivity.ts'

export const COMPOSE_FILE = 'docker-compose.yml'
const VOLUMES = ['config', 'logs', 'extensions'] as const

/** Undefined where MQTT is not open to devices, or a gateway can not log in by such credentials. */
export function gatewayCompose(connected: Connected): string | undefined {
  const endpoint = endpointOf('mqtt', connected)
  const login = loginOf(connected.credentials)
  if (endpoint === undefined || login === undefined) return undefined
  const variables = [['TB_GW_HOST', hostInDocker(endpoint.host)], ['TB_GW_PORT', endpoint.port], ...login]
  return `services:
  tb-gateway:
    image: thingsboard/tb-gateway
    container_name: tb-gateway
    restart: always
    # Linux gives containers no name for the host of itself.
    extra_hosts:
      - "host.docker.internal:host-gateway"
    # Connectors that devices call need their ports here; 5000 is the REST connector's.
    ports:
      - "5000:5000"
    environment:
${variables.map(([name = '', value = '']) => `      - ${quoted(`${name}=${value}`)}`).join('\n')}
    volumes:
${VOLUMES.map((name) => `      - tb-gw-${name}:/thingsboard_gateway/${name}`).join('\n')}

volumes:
${VOLUMES.map((name) => `  tb-gw-${name}:\n    name: tb-gw-${name}`).join('\n')}
`
}

function loginOf({ credentialsType, credentialsId, credentialsValue }: DeviceCredentials): string[][] | undefined {
  if (credentialsType === 'ACCESS_TOKEN')
    return [
      ['TB_GW_SECURITY_TYPE', 'accessToken'],
      ['TB_GW_ACCESS_TOKEN', credentialsId],
    ]
  if (credentialsType !== 'MQTT_BASIC') return undefined
  const value = parseJson(credentialsValue ?? '{}')
  const members = isJsonObject(value) ? value : {}
  const variable = (name: string, member: string): string[][] => {
    const text = members[member]
    return typeof text === 'string' && text !== '' ? [[name, text]] : []
  }
  return [
    ['TB_GW_SECURITY_TYPE', 'usernamePassword'],
    ...variable('TB_GW_CLIENT_ID', 'clientId'),
    ...variable('TB_GW_USERNAME', 'userName'),
    ...variable('TB_GW_PASSWORD', 'password'),
  ]
}

/** A text of YAML in which Compose replaces nothing. */
function quoted(text: string): string {
  return JSON.stringify(text.replaceAll('$', '$$$$'))
}
