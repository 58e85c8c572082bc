/** What may be done to entities, and rows of the permission table (`rest-api.md` 3.5) that several kinds share. */

export type Operation =
  | 'READ'
  | 'WRITE'
  | 'DELETE'
  | 'READ_CREDENTIALS'
  | 'WRITE_CREDENTIALS'
  | 'READ_ATTRIBUTES'
  | 'WRITE_ATTRIBUTES'
  | 'READ_TELEMETRY'
  | 'WRITE_TELEMETRY'
  | 'ASSIGN_TO_CUSTOMER'
  | 'ASSIGN_TO_TENANT'
  | 'RPC_CALL'
  | 'CREATE'
  /** To be an end of a relation: what may be written, and a tenant administrator's own tenant. */
  | 'RELATE'

/** What a customer's user may do with what is assigned to the customer. */
export const NOT_IN_OWN_HANDS: readonly Operation[] = [
  'READ',
  'WRITE',
  'READ_CREDENTIALS',
  'READ_ATTRIBUTES',
  'WRITE_ATTRIBUTES',
  'READ_TELEMETRY',
  'WRITE_TELEMETRY',
  'RPC_CALL',
]
export const LOOK: readonly Operation[] = ['READ', 'READ_ATTRIBUTES', 'READ_TELEMETRY']
