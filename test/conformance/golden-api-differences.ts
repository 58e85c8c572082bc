/**
 * Where this server answers the recorded API scenarios otherwise, path by path, and what is not built yet. The replay fails for a difference
 * that is not listed, and for a listed one that is none any more.
 */
import type { DeliberateDifference } from './golden-answers.ts'

/** Of all steps: those that may differ on purpose. */
export const MAX_SHARE = 0.05

/** `scenario/step`. */
export const API_DIFFERENCES: Readonly<Record<string, DeliberateDifference>> = {
  'attributes-of-types/shared-of-asset': {
    reason: 'shared and client attributes exist for devices only: writing them elsewhere is refused',
    answers: { status: 400, body: 'Invalid scope: SHARED_SCOPE. Only devices have it' },
  },
  'user-access/disable-by-customer-403': {
    reason:
      'a token stays withdrawn that is of an earlier second than the one in which its user was switched off (logins.test.ts)',
    answers: { status: 401, 'body.status': 401, 'body.message': 'Token has expired', 'body.errorCode': 11 },
    isSometimes: true,
  },
}

/** What is not built, to the steps that need it. The list only gets shorter. */
const WANTING: Readonly<Record<string, readonly string[]>> = {
  'system widgets': ['authority-customer-may/widget-bundles'],
  'queues of the system alone: tenants may make queues here': [
    'queue/create-by-tenant-403',
    'queue/create',
    'queue/update',
    'queue/rename-400',
    'queue/delete-by-tenant-403',
    'queue/delete',
    'queue/get-deleted-404',
  ],
}

/** Step to what it needs. */
export const NOT_BUILT: ReadonlyMap<string, string> = new Map(
  Object.entries(WANTING).flatMap(([what, steps]) => steps.map((step): [string, string] => [step, what])),
)
