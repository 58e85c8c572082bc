/** What the entity store refuses; the texts are the REST reference's (`rest-api.md` 2.4), where clients may match them. */
import { defineErrors } from '../../model/errors.ts'
import type { GroupCommitRefusals } from '../group-commit.ts'

export const EntityStoreErrors = defineErrors('entities', {
  DATABASE_NEWER: {
    kind: 'terminal',
    status: 500,
    text: 'The entity database {file} has schema version {found}, this program knows versions up to {known}: start a newer program, or restore a backup',
  },
  OVERLOADED: {
    kind: 'retryable',
    isOutage: true,
    status: 503,
    text: 'The entity store has {waiting} requests waiting, at most {limit} are allowed',
  },
  CLOSED: { kind: 'terminal', status: 503, text: 'The entity store is closed' },
  LOST: { kind: 'terminal', status: 500, text: 'The entity store stopped: {reason}', restCode: 46 },
  /** A whole commit failed: a full disk, a disk error. */
  UNAVAILABLE: { kind: 'retryable', isOutage: true, status: 500, text: 'Database error', restCode: 46 },
  FAILED: { kind: 'retryable', status: 500, text: 'Database error', restCode: 46 },
  CONSTRAINT: { kind: 'invalid', status: 400, text: 'Constraint violation: {constraint}', restCode: 31 },
  TRANSACTION_HELD: {
    kind: 'terminal',
    status: 500,
    text: 'A transaction is one list of statements given to write(): none is held open across awaits',
  },
  VERSION_CONFLICT: {
    kind: 'invalid',
    status: 409,
    text: '{entity} was already changed by someone else',
    restCode: 35,
  },
  NAME_TAKEN: { kind: 'invalid', status: 400, text: '{entity} with such {property} already exists!', restCode: 31 },
  QUEUE_TAKEN: { kind: 'invalid', status: 400, text: 'Queue with {property}: {value} already exists!', restCode: 31 },
  EMAIL_TAKEN: {
    kind: 'invalid',
    status: 400,
    text: "User with email '{email}' already present in database!",
    restCode: 31,
  },
  CREDENTIALS_TAKEN: {
    kind: 'invalid',
    status: 400,
    text: 'Device credentials are already assigned to another device!',
    restCode: 31,
  },
  PAGE_SIZE: {
    kind: 'invalid',
    status: 400,
    text: "Incorrect page link page size '{pageSize}'. Page size must be greater than zero.",
    restCode: 31,
  },
  PAGE_NUMBER: {
    kind: 'invalid',
    status: 400,
    text: "Incorrect page link page '{page}'. Page must be positive integer.",
    restCode: 31,
  },
  TEXT_TOO_LONG: { kind: 'invalid', status: 400, text: 'The text that is searched for is too long', restCode: 31 },
  SORT_PROPERTY: { kind: 'invalid', status: 400, text: 'Invalid sort property', restCode: 31 },
})

/** Those of its group commit. */
export const ENTITY_REFUSALS: GroupCommitRefusals = {
  full: (waiting, limit) => EntityStoreErrors.OVERLOADED({ waiting, limit }),
  closed: () => EntityStoreErrors.CLOSED(),
}
