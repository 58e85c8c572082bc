/** The kinds of integrations: one line each. */
import { file } from './kinds/file.ts'
import { http } from './kinds/http.ts'
import { kafka } from './kinds/kafka.ts'
import { mqtt } from './kinds/mqtt.ts'
import { tcp } from './kinds/tcp.ts'
import { udp } from './kinds/udp.ts'
import type { IntegrationDefinition } from './define-integration.ts'

const KINDS = [http, mqtt, kafka, tcp, udp, file] as const

export type IntegrationType = (typeof KINDS)[number]['type']

export const INTEGRATION_TYPES: readonly IntegrationType[] = KINDS.map(({ type }) => type)

export function kindOf(type: IntegrationType): IntegrationDefinition<IntegrationType> {
  return KINDS.find((kind) => kind.type === type) ?? http
}
