/** What is refused once a tenant has used a feature up: in the words of the reference. */
import { defineErrors } from '../../model/errors.ts'

const USED_UP = { kind: 'denied', status: 403, restCode: 41 } as const

export const UsageErrors = defineErrors('usage', {
  STORAGE: { kind: 'denied', status: 500, text: 'DB storage writes are disabled due to API limits!' },
  EMAIL: { ...USED_UP, text: 'Email sending is disabled due to API limits!' },
  SMS: { ...USED_UP, text: 'SMS sending is disabled due to API limits!' },
  SCRIPTS: { ...USED_UP, text: '{language} script execution is disabled due to API limits!' },
  ALARMS: { ...USED_UP, text: 'Alarms creation is disabled' },
})
