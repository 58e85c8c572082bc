/** What the alarm services refuse; the texts are the reference's (`rest-api.md` section 9). */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const
const NOT_FOUND = { kind: 'invalid', status: 404, restCode: 32, text: "Requested item wasn't found!" } as const

export const AlarmErrors = defineErrors('alarm', {
  MEMBER_MISSING: { ...BAD_REQUEST, text: 'Validation error: {member} must not be null' },
  ORIGINATOR_UNKNOWN: NOT_FOUND,
  ASSIGNEE_UNKNOWN: NOT_FOUND,
  /** Makes who raises an alarm look again; nobody outside sees it. */
  RAISED_MEANWHILE: { kind: 'invalid', status: 409, text: 'Alarm was already changed by someone else', restCode: 35 },
  /** The same visit of a rule node changed it; nobody outside sees it. */
  VISITED: { kind: 'invalid', status: 409, text: 'Alarm was already changed for this message', restCode: 35 },
  ALREADY_ACKNOWLEDGED: { ...BAD_REQUEST, text: 'Alarm was already acknowledged!' },
  ALREADY_CLEARED: { ...BAD_REQUEST, text: 'Alarm was already cleared!' },
  ALREADY_ASSIGNED: { ...BAD_REQUEST, text: 'Alarm was already assigned to this user!' },
  ALREADY_UNASSIGNED: { ...BAD_REQUEST, text: 'Alarm was already unassigned!' },
  ASSIGNEE_WITHOUT_ACCESS: { ...BAD_REQUEST, text: 'The user may not see this alarm!' },
  STATUSES_TOGETHER: {
    ...BAD_REQUEST,
    text: "Invalid alarms search query: Both parameters 'searchStatus' and 'status' can't be specified at the same time!",
  },
  RELATION_TYPES: { ...BAD_REQUEST, text: 'Validation error: at most {limit} propagateRelationTypes are allowed' },
  COMMENT_MISSING: { ...BAD_REQUEST, text: 'Alarm comment should be specified!' },
  COMMENT_UNKNOWN: { ...NOT_FOUND, text: 'Alarm comment with id [{id}] is not found' },
  COMMENT_OF_OTHER_ALARM: { ...BAD_REQUEST, text: 'Alarm id does not match with comment alarm id' },
  COMMENT_NOT_UPDATED: { ...BAD_REQUEST, text: "Can't update non existing alarm comment!" },
  COMMENT_OF_OTHER: {
    kind: 'denied',
    status: 403,
    text: "User is not allowed to edit other user's comment",
    restCode: 20,
  },
  COMMENT_OF_SYSTEM: { ...BAD_REQUEST, text: 'System comment could not be deleted' },
  COMMENT_OF_SYSTEM_FIXED: { ...BAD_REQUEST, text: "System alarm comment can't be updated!" },
  TOO_MANY_COMMENTS: { ...BAD_REQUEST, text: 'An alarm may have at most {limit} comments' },
})
