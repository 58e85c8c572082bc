/** What relations refuse, in the reference's words where it has some (`rest-api.md` 10). */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const RelationErrors = defineErrors('relation', {
  TYPE_BLANK: { ...BAD_REQUEST, text: 'Validation error: type must not be blank' },
  END_MISSING: { ...BAD_REQUEST, text: 'Validation error: {end} must not be null' },
  NOT_FOUND: { kind: 'invalid', status: 404, text: "Requested item wasn't found!", restCode: 32 },
  TOO_MANY: { ...BAD_REQUEST, text: 'An entity may have at most {limit} relations in one direction' },
  TOO_MANY_FOUND: {
    ...BAD_REQUEST,
    text: 'More than {limit} relations are found: search fewer levels or a smaller part',
  },
  TOO_DEEP: { ...BAD_REQUEST, text: 'The relations go deeper than {limit} levels: search fewer levels' },
})
