/** Where customers and tenants are reached. Source: `rest-api.md` 11. */
import { optionalText } from './column.ts'

/** Not there in the first releases: version 2 of their tables has them. */
const LATER = { since: 2, sort: true } as const

export const CONTACT = {
  country: optionalText(LATER),
  state: optionalText(LATER),
  city: optionalText(LATER),
  address: optionalText(LATER),
  address2: optionalText(LATER),
  zip: optionalText(LATER),
  phone: optionalText(LATER),
  email: optionalText(LATER),
} as const
