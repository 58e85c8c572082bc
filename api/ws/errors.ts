/** What a command is refused with; each text reaches the client in an update of the command's id. */
import { defineErrors } from '../../model/errors.ts'

export const CommandErrors = defineErrors('ws', {
  ID_NEGATIVE: { kind: 'invalid', status: 400, text: 'Cmd id is negative value!' },
  ENTITY_ID_EMPTY: { kind: 'invalid', status: 400, text: 'Device id is empty!' },
  KEYS_EMPTY: { kind: 'invalid', status: 400, text: 'Keys are empty!' },
  ENTITY_TYPE_UNKNOWN: { kind: 'invalid', status: 400, text: 'Unknown entity type: {entityType}' },
  UUID_INVALID: { kind: 'invalid', status: 400, text: 'Invalid UUID string: {value}' },
  AGGREGATION_UNKNOWN: { kind: 'invalid', status: 400, text: 'Unknown aggregation: {agg}' },
  SCOPE_UNKNOWN: { kind: 'invalid', status: 400, text: 'Invalid scope: {scope}' },
  FETCH_DENIED: { kind: 'denied', status: 403, text: 'Failed to fetch data!' },
  ORIGINATOR_MISSING: { kind: 'invalid', status: 400, text: 'Alarm originator id is not specified!' },
  QUERY_EMPTY: { kind: 'invalid', status: 400, text: 'Query is empty!' },
  TOO_MANY_FOLLOWED: {
    kind: 'invalid',
    status: 400,
    text: 'The commands of one session follow at most {limit} entities together',
  },
  SESSION_ENDED: { kind: 'terminal', status: 503, text: 'The session has ended' },
  ATTRIBUTES_DENIED: { kind: 'denied', status: 403, text: 'Failed to fetch attributes!' },
})
