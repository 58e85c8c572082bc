/** Every setting of Millrace. `docs/reference/settings.md` is made from these (`npm run docs`). */
import { TRANSPORT_SETTINGS } from '../transports/catalogue.ts'
import type { ValuesOf } from './define.ts'
import { AUTHENTICATION_SETTINGS } from './settings/authentication.ts'
import { DEVICE_SETTINGS } from './settings/devices.ts'
import { HTTP_SETTINGS } from './settings/http.ts'
import { INTEGRATION_SETTINGS } from './settings/integrations.ts'
import { LINK_SETTINGS } from './settings/link.ts'
import { OUTBOUND_SETTINGS } from './settings/outbound.ts'
import { QUEUE_SETTINGS } from './settings/queue.ts'
import { SCRIPT_SETTINGS } from './settings/scripts.ts'
import { START_SETTINGS } from './settings/start.ts'
import { SECRETS_SETTINGS } from './settings/secrets.ts'
import { STORAGE_SETTINGS } from './settings/storage.ts'

/** In the order in which the pages and `config` show them. */
export const SETTINGS = {
  ...START_SETTINGS,
  ...HTTP_SETTINGS,
  ...TRANSPORT_SETTINGS,
  ...AUTHENTICATION_SETTINGS,
  ...SECRETS_SETTINGS,
  ...STORAGE_SETTINGS,
  ...LINK_SETTINGS,
  ...QUEUE_SETTINGS,
  ...SCRIPT_SETTINGS,
  ...OUTBOUND_SETTINGS,
  ...INTEGRATION_SETTINGS,
  ...DEVICE_SETTINGS,
} as const

export type SettingKey = keyof typeof SETTINGS

/** The parsed, complete, frozen configuration. */
export type Config = ValuesOf<typeof SETTINGS>
