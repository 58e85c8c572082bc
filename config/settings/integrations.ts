import { settingsOf } from '../define.ts'

const integrations = settingsOf('Integrations')

export const INTEGRATION_SETTINGS = {
  integrationMaxFrameBytes: integrations.integer({
    name: 'INTEGRATION_MAX_FRAME_BYTES',
    default: 262_144,
    min: 1024,
    max: 16_777_216,
    unit: 'bytes',
    description: 'Largest message, request, line or record that an integration takes.',
  }),
  integrationMegabytes: integrations.integer({
    name: 'INTEGRATION_MAX_MEMORY_MB',
    default: 32,
    min: 1,
    max: 4096,
    unit: 'MiB',
    description: 'What integrations have taken and not stored yet; one tenant has a quarter of it.',
  }),
  integrationFetchedMegabytes: integrations.integer({
    name: 'INTEGRATION_MAX_FETCHED_MB',
    default: 64,
    min: 4,
    max: 4096,
    unit: 'MiB',
    description: 'What Kafka integrations have fetched or asked for and not handed on; one tenant has a quarter of it.',
  }),
  integrationPorts: integrations.portRanges({
    name: 'INTEGRATION_PORTS',
    description: 'Ports of this machine that integrations of tenants (TCP, UDP) may listen at.',
  }),
  integrationAddresses: integrations.networks({
    name: 'INTEGRATION_ADDRESSES',
    description:
      'Addresses, beside loopback, that integrations may listen at; `0.0.0.0`: all of IPv4. Whoever reaches one may send.',
  }),
  integrationSslCertFile: integrations.file({
    name: 'INTEGRATION_SSL_PEM_CERT',
    description:
      'Certificate of TCP integrations with `tls`, with its chain; none: no `tls`. Read again when it changes.',
  }),
  integrationSslKeyFile: integrations.file({
    name: 'INTEGRATION_SSL_PEM_KEY',
    description: 'Its private key; none: it is in the file of the certificate.',
  }),
  integrationSslKeyPassword: integrations.secret({
    name: 'INTEGRATION_SSL_PEM_KEY_PASSWORD',
    default: undefined,
    absent: 'none',
    allowed: 'a text that is not empty',
    accepts: (text) => text !== '',
    description: 'Opens the private key.',
  }),
  integrationFolder: integrations.file({
    name: 'INTEGRATION_FOLDER',
    description:
      'Folder whose files integrations may read: below it each tenant has one of its own, named by its id. The same in each process of the role `engine`.',
  }),
  integrationTenantPorts: integrations.integer({
    name: 'INTEGRATION_MAX_PORTS_PER_TENANT',
    default: 10,
    min: 0,
    max: 65_535,
    description: 'Ports that the integrations of one tenant listen at, in one process.',
  }),
  integrationMaxConnections: integrations.integer({
    name: 'INTEGRATION_MAX_CONNECTIONS',
    default: 1000,
    min: 1,
    max: 1_000_000,
    description:
      'Connections to TCP integrations that are open at a time, in one process; one tenant has a quarter of them.',
  }),
} as const
