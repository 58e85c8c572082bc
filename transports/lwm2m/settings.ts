import { settingsOf, type ValuesOf } from '../../config/define.ts'

const lwm2m = settingsOf('LwM2M')
const DEFAULT_PORT = 5685
const DEFAULT_BOOTSTRAP_PORT = 5687

export const LWM2M_SETTINGS = {
  lwm2mEnabled: lwm2m.flag({ name: 'LWM2M_ENABLED', default: true, description: 'Run the LwM2M transport.' }),
  lwm2mBindAddress: lwm2m.address({
    name: 'LWM2M_BIND_ADDRESS',
    default: '127.0.0.1',
    description: 'Its address; a public one is refused as for HTTP. Only for clients without security.',
  }),
  lwm2mDtlsProxySocket: lwm2m.text({
    name: 'LWM2M_DTLS_PROXY_SOCKET',
    default: '',
    description:
      'Path of the Unix socket at which a proxy that ends DTLS (`deploy/dtls-proxy`) brings its clients; empty: none.',
  }),
  lwm2mBindPort: lwm2m.port({ name: 'LWM2M_BIND_PORT', default: DEFAULT_PORT, description: 'Its UDP port.' }),
  lwm2mBootstrapEnabled: lwm2m.flag({
    name: 'LWM2M_ENABLED_BS',
    default: true,
    description: 'Run the bootstrap server, where LwM2M runs.',
  }),
  lwm2mBootstrapBindAddress: lwm2m.address({
    name: 'LWM2M_BS_BIND_ADDRESS',
    default: '127.0.0.1',
    description: "The bootstrap server's address, as `LWM2M_BIND_ADDRESS`.",
  }),
  lwm2mBootstrapBindPort: lwm2m.optionalPort({
    name: 'LWM2M_BS_BIND_PORT',
    description:
      `The bootstrap server's UDP port. Not set: ${DEFAULT_BOOTSTRAP_PORT} where LWM2M_BIND_PORT is ${DEFAULT_PORT}, a free one where that is 0, ` +
      'and no bootstrap server where it is another, so that processes with ports of their own do not meet.',
  }),
  lwm2mBootstrapDtlsProxySocket: lwm2m.text({
    name: 'LWM2M_BS_DTLS_PROXY_SOCKET',
    default: '',
    description: "As `LWM2M_DTLS_PROXY_SOCKET`, for the bootstrap server's clients.",
  }),
  lwm2mMaxClients: lwm2m.integer({
    name: 'LWM2M_MAX_CLIENTS',
    default: 100_000,
    min: 1,
    max: 10_000_000,
    description: 'Clients that are registered at once; more get 5.03.',
  }),
  lwm2mMaxClientsPerTenant: lwm2m.integer({
    name: 'LWM2M_MAX_CLIENTS_PER_TENANT',
    default: 75_000,
    min: 1,
    max: 10_000_000,
    description: "Of these, one tenant's.",
  }),
} as const

/** Undefined: there is none. */
export function bootstrapPortOf({
  lwm2mEnabled,
  lwm2mBindPort,
  lwm2mBootstrapEnabled,
  lwm2mBootstrapBindPort,
}: ValuesOf<typeof LWM2M_SETTINGS>): number | undefined {
  if (!lwm2mEnabled || !lwm2mBootstrapEnabled) return undefined
  if (lwm2mBootstrapBindPort !== undefined) return lwm2mBootstrapBindPort
  if (lwm2mBindPort === 0) return 0
  return lwm2mBindPort === DEFAULT_PORT ? DEFAULT_BOOTSTRAP_PORT : undefined
}
