/** A UDP port: each datagram is a frame, which may be answered when it is stored. */
import { defineIntegration } from '../define-integration.ts'
import { checkListening } from '../operator-rules.ts'
import { listenText } from './listen-configuration.ts'
import { udpConfiguration } from './udp-configuration.ts'

export const udp = defineIntegration({
  type: 'UDP',
  label: 'UDP port',
  configuration: udpConfiguration,
  secrets: {},
  placeOf: listenText,
  example: { port: 5000 },
  check: checkListening,
  open: async (parts) => (await import('./udp-source.ts')).openUdpSource(parts),
})
