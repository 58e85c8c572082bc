/** A TCP port: senders connect and send frames; each may be answered when it is stored. */
import { defineIntegration } from '../define-integration.ts'
import { checkCertificate, checkListening } from '../operator-rules.ts'
import { listenText } from './listen-configuration.ts'
import { tcpConfiguration } from './tcp-configuration.ts'

export const tcp = defineIntegration({
  type: 'TCP',
  label: 'TCP port',
  configuration: tcpConfiguration,
  secrets: {},
  placeOf: listenText,
  example: { port: 5000, framing: { type: 'LINE' }, answer: 'OK\n' },
  check: (configuration, rules) => {
    checkListening(configuration, rules)
    if (configuration.tls) checkCertificate(rules)
  },
  open: async (parts) => (await import('./tcp-source.ts')).openTcpSource(parts),
})
