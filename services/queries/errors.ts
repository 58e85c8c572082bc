/** What entity queries are refused with; the texts are the reference's (`rest-api.md` 7.5). */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const QueryErrors = defineErrors('query', {
  FILTER_MISSING: { ...BAD_REQUEST, text: 'Query entity filter must be specified.' },
  PAGE_MISSING: { ...BAD_REQUEST, text: 'Entity Data Page link must be specified.' },
  PAGE_SIZE: {
    ...BAD_REQUEST,
    text: "Incorrect entity data page link page size '{pageSize}'. Page size must be greater than zero.",
  },
  PAGE_NUMBER: {
    ...BAD_REQUEST,
    text: "Incorrect entity data page link page '{page}'. Page must be positive integer.",
  },
  PAGE_TOO_FAR: {
    ...BAD_REQUEST,
    text: "Incorrect entity data page link page '{page}'. There is no page so far behind.",
  },
  ROOT_MISSING: { ...BAD_REQUEST, text: 'Relation query filter root entity should not be blank' },
  TOO_MANY: {
    ...BAD_REQUEST,
    text: 'The query would look at the latest telemetry of more than {limit} entities: narrow its entity filter',
  },
  SORTED_TEXTS: {
    ...BAD_REQUEST,
    text: 'The query would sort by texts of more than {limit} bytes: narrow its entity filter',
  },
  TOO_MANY_RELATED: { ...BAD_REQUEST, text: 'More than {limit} relations lead from the root: lower maxLevel' },
})
