/** What claiming and provisioning refuse; the texts are the reference's. */
import { defineErrors } from '../../model/errors.ts'

export const OnboardingErrors = defineErrors('onboarding', {
  DEVICE_UNKNOWN: { kind: 'invalid', status: 404, text: "Requested item wasn't found!", restCode: 32 },
  TENANT_UNKNOWN: { kind: 'invalid', status: 400, text: 'Could not find the specified Tenant!', restCode: 31 },
  VIEWED: {
    kind: 'invalid',
    status: 400,
    text: "Can't assign device that has entity views to another tenant!",
    restCode: 31,
  },
  PROVISIONED_ALREADY: { kind: 'invalid', status: 409, text: 'The device was provisioned already' },
  CREDENTIALS_NOT_PROVISIONED: { kind: 'invalid', status: 400, text: '{type} can not be provisioned' },
  TOO_MANY_WRONG: {
    kind: 'denied',
    status: 429,
    text: 'Too many attempts were wrong, try again later',
    restCode: 33,
  },
  BUSY: { kind: 'retryable', status: 503, text: 'More attempts are under way than there is room for' },
})
