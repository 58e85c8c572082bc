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
} as const
