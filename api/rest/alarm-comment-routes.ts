/** What people say of an alarm. Source: `rest-api.md` 9.1. */
import { z } from 'zod'
import type { JsonObject } from '../../model/json.ts'
import { commentJson } from '../../services/alarms/alarm-comments.ts'
import { alarms } from '../../services/entities/alarm.ts'
import { anyJson, optionalId } from './body.ts'
import type { AlarmRouteParts } from './alarm-routes.ts'
import { paging } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { idShape, pageShape } from './declared/shapes.ts'
import { EMPTY_ANSWER, EVERYBODY, TENANT_AND_CUSTOMER } from './route.ts'

const COMMENT: JsonObject = {
  id: { type: 'object', properties: { id: { type: 'string', format: 'uuid' } }, required: ['id'] },
  createdTime: { type: 'integer', description: 'Unix milliseconds' },
  alarmId: idShape('ALARM'),
  userId: { oneOf: [idShape('USER'), { type: 'null' }] },
  type: { type: 'string', enum: ['SYSTEM', 'OTHER'] },
  comment: {},
  name: { type: 'string' },
}
const NULLABLE_TEXT: JsonObject = { type: ['string', 'null'] }
const COMMENT_INFO: JsonObject = {
  ...COMMENT,
  firstName: NULLABLE_TEXT,
  lastName: NULLABLE_TEXT,
  email: NULLABLE_TEXT,
}

const commentSchema = z.object({ id: optionalId, comment: anyJson.optional() })

export function alarmCommentRoutes({ make, alarmService }: AlarmRouteParts): readonly DeclaredRoute[] {
  return [
    make.route({
      method: 'POST',
      path: '/api/alarm/{alarmId}/comment',
      about: 'Says something of an alarm, or changes what the caller said.',
      authorities: TENANT_AND_CUSTOMER,
      targets: { alarmId: { entity: alarms, operation: 'WRITE' } },
      query: {},
      body: commentSchema,
      example: () => ({ comment: { text: 'A fan is broken.' } }),
      answer: { type: 'object', properties: COMMENT, required: Object.keys(COMMENT) },
      handle: async ({ principal, path, body }) =>
        commentJson(await alarmService.saveCommentByUser(principal, path.alarmId, body)),
    }),
    make.route({
      method: 'GET',
      path: '/api/alarm/{alarmId}/comment',
      about: 'What was said of an alarm and done to it.',
      authorities: EVERYBODY,
      targets: { alarmId: { entity: alarms, operation: 'READ' } },
      query: { page: paging },
      body: undefined,
      answer: pageShape({ type: 'object', properties: COMMENT_INFO, required: Object.keys(COMMENT_INFO) }),
      handle: async ({ path, query }) => {
        const page = await alarmService.pageOfComments(path.alarmId, query.page)
        return { ...page, data: [...page.data] }
      },
    }),
    make.route({
      method: 'DELETE',
      path: '/api/alarm/{alarmId}/comment/{commentId}',
      about: 'Takes back what was said: a note stays that it was.',
      authorities: TENANT_AND_CUSTOMER,
      targets: {
        alarmId: { entity: alarms, operation: 'WRITE' },
        commentId: { untargeted: 'no entity: it is looked for among the comments of the alarm' },
      },
      query: {},
      body: undefined,
      answer: undefined,
      handle: async ({ principal, path }) => {
        await alarmService.deleteCommentByUser(principal, path.alarmId, path.commentId)
        return EMPTY_ANSWER
      },
    }),
  ]
}
