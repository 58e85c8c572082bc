import { settingsOf } from '../define.ts'

const devices = settingsOf('Devices')

export const DEVICE_SETTINGS = {
  castStrings: devices.flag({
    name: 'JSON_TYPE_CAST_ENABLED',
    default: true,
    description: 'Store texts that are plain numbers ("21.5") as numbers.',
  }),
  backfillAfterMinutes: devices.integer({
    name: 'BACKFILL_AFTER_MINUTES',
    default: 0,
    min: 0,
    max: 5_256_000,
    unit: 'min',
    description:
      'Telemetry that a device sends so late is backfill: stored, in a lane of its own, raising no alarm; 0: off.',
  }),
  inactivityTimeoutSeconds: devices.integer({
    name: 'DEFAULT_INACTIVITY_TIMEOUT',
    default: 600,
    min: 1,
    max: 31_536_000,
    unit: 's',
    description: 'Silence after which a device is inactive; its server attribute inactivityTimeout (ms) overrides it.',
  }),
  stateCheckSeconds: devices.integer({
    name: 'DEFAULT_STATE_CHECK_INTERVAL',
    default: 60,
    min: 1,
    max: 86_400,
    unit: 's',
    description: 'How often that is checked.',
  }),
  activityReportsPerSecond: devices.integer({
    name: 'ACTIVITY_REPORTS_PER_SECOND',
    default: 2000,
    min: 1,
    max: 1_000_000,
    description:
      'Most last-activity times written per second. A device has one every 3 s where there is room, else in turn; becoming active or inactive is never late.',
  }),
  claimAllowedByDefault: devices.flag({
    name: 'SECURITY_CLAIM_ALLOW_CLAIMING_BY_DEFAULT',
    default: true,
    description: 'Devices may be claimed without the server attribute claimingAllowed.',
  }),
  claimDurationMs: devices.integer({
    name: 'SECURITY_CLAIM_DURATION',
    default: 86_400_000,
    min: 1000,
    max: 31_536_000_000,
    unit: 'ms',
    description: 'How long a device may be claimed that does not say it itself.',
  }),
  provisionWrongPerAddress: devices.integer({
    name: 'PROVISION_MAX_WRONG_PER_ADDRESS',
    default: 100,
    min: 1,
    max: 1_000_000,
    description:
      'Wrong provisioning keys and secrets of one address in a minute; beyond it is not heard for the rest of it.',
  }),
  mqttsCaFile: devices.file({
    name: 'DEVICE_CONNECTIVITY_MQTTS_CA_ROOT_CERT',
    description: 'What signed the certificate of MQTT over TLS, as devices download it; PEM.',
  }),
  coapsCaFile: devices.file({
    name: 'DEVICE_CONNECTIVITY_COAPS_CA_ROOT_CERT',
    description: 'The same of CoAP over DTLS.',
  }),
} as const
