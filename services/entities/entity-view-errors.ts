/** What entity views refuse. */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const EntityViewErrors = defineErrors('entity-view', {
  SOURCE_MISSING: { ...BAD_REQUEST, text: 'Entity view entityId should be specified!' },
  SOURCE_IN_USE: {
    ...BAD_REQUEST,
    text: "Can't delete {type} that has entity views or is referenced in calculated fields!",
  },
  READ_ONLY: { ...BAD_REQUEST, text: "Telemetry data can't be stored for entity view. Read only" },
})
