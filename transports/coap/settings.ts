import { settingsOf } from '../../config/define.ts'

const coap = settingsOf('CoAP')

export const COAP_SETTINGS = {
  coapEnabled: coap.flag({ name: 'COAP_ENABLED', default: true, description: 'Run the CoAP transport.' }),
  coapBindAddress: coap.address({
    name: 'COAP_BIND_ADDRESS',
    default: '127.0.0.1',
    description: 'Its address; a public one is refused as for HTTP.',
  }),
  coapDtlsProxySocket: coap.text({
    name: 'COAP_DTLS_PROXY_SOCKET',
    default: '',
    description:
      'Path of the Unix socket at which a proxy that ends DTLS (`deploy/dtls-proxy`) brings its clients; empty: none.',
  }),
  coapBindPort: coap.port({ name: 'COAP_BIND_PORT', default: 5683, description: 'Its UDP port.' }),
  coapMaxPayloadBytes: coap.integer({
    name: 'COAP_MAX_PAYLOAD_BYTES',
    default: 65_536,
    min: 1024,
    max: 1_048_576,
    unit: 'bytes',
    description: 'Largest request, its blocks together; a larger one is 4.13.',
  }),
  coapMaxExchanges: coap.integer({
    name: 'COAP_MAX_EXCHANGES',
    default: 100_000,
    min: 100,
    max: 10_000_000,
    description:
      'Requests that are remembered for 247 s, so that one that comes again is done once. Beyond them the oldest are forgotten.',
  }),
  coapMaxObservers: coap.integer({
    name: 'COAP_MAX_OBSERVERS',
    default: 100_000,
    min: 1,
    max: 10_000_000,
    description: 'Devices that observe attributes or calls; more get 5.03.',
  }),
  coapMaxObserversPerTenant: coap.integer({
    name: 'COAP_MAX_OBSERVERS_PER_TENANT',
    default: 75_000,
    min: 1,
    max: 10_000_000,
    description: "Of these, one tenant's.",
  }),
} as const
