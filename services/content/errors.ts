/** What content services refuse; the texts are the reference's (`rest-api.md` 2.4, 14). */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const ContentErrors = defineErrors('content', {
  FIXED: { ...BAD_REQUEST, text: 'Update of {what} is prohibited!' },
  DESCRIPTOR_MISSING: { ...BAD_REQUEST, text: "Widgets type descriptor can't be empty!" },
  WIDGET_TYPE_UNKNOWN: { ...BAD_REQUEST, text: 'There is no widget type {name} that the bundle could hold' },
  TAKEN: { ...BAD_REQUEST, text: '{name} already exists!' },
  NOT_FOUND: { kind: 'invalid', status: 404, text: "Requested item wasn't found!", restCode: 32 },
})
