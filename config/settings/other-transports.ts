import { settingsOf } from '../define.ts'

const others = settingsOf('Other transports')

export const OTHER_TRANSPORT_SETTINGS = {
  lwm2mBindPort: others.port({
    name: 'LWM2M_BIND_PORT',
    default: 5685,
    description: 'Not built: nothing listens.',
  }),
} as const
