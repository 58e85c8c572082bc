/** What is refused of calculated fields and alarm rules; the texts are the reference's where clients may match them (`rule-engine.md` section 8). */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const CalculatedFieldErrors = defineErrors('calculated-field', {
  INVALID: { ...BAD_REQUEST, text: 'Validation error: {member} {reason}' },
  NAME_TAKEN: { ...BAD_REQUEST, text: 'Calculated field with such name and type already exists' },
  CUSTOMER_IN_USE: { ...BAD_REQUEST, text: "Can't delete customer that is referenced in calculated fields!" },
  ARGUMENT_RESERVED: { ...BAD_REQUEST, text: "Argument name '{name}' is reserved and cannot be used." },
  ARGUMENT_NAME: { ...BAD_REQUEST, text: "Argument name '{name}' is not the name of a script variable." },
  ARGUMENT_UNKNOWN: { ...BAD_REQUEST, text: "{member} names an argument that the field does not have: '{name}'." },
  ROLLING: { ...BAD_REQUEST, text: "Calculated field with type: '{type}' doesn't support TS_ROLLING arguments." },
  LATEST_ONLY: { ...BAD_REQUEST, text: "Calculated field with type: '{type}' supports TS_LATEST arguments only." },
  ENTITY_TYPE: { ...BAD_REQUEST, text: "Calculated field with type: '{type}' is not supported for {entityType}." },
  TOO_MANY_RULES: { ...BAD_REQUEST, text: 'At most {limit} alarm rules of one entity are allowed' },
  TOO_MANY_FIELDS: { ...BAD_REQUEST, text: 'Calculated fields per entity limit reached!' },
  TOO_MANY_ARGUMENTS: { ...BAD_REQUEST, text: 'Calculated field arguments limit reached!' },
  ABOVE_LIMIT: { ...BAD_REQUEST, text: 'Validation error: {member} must be less than or equal to {limit}' },
  BELOW_LIMIT: { ...BAD_REQUEST, text: 'Validation error: {member} must be greater than or equal to {limit}' },
  VALUE_TOO_LARGE: {
    ...BAD_REQUEST,
    text: 'Single value size exceeds the maximum allowed limit. The argument will not be used for calculation: {names}',
  },
  TOO_SLOW: { ...BAD_REQUEST, text: 'The calculation takes longer than {seconds} s' },
  NOT_A_RULE: { kind: 'invalid', status: 404, restCode: 32, text: "Requested item wasn't found!" },
})
