/** Where customers and tenants are reached. Source: `rest-api.md` 11. */
import { ServiceErrors } from '../errors.ts'
import { optionalText, type Column } from './column.ts'

/** Not there in the first releases: version 2 of their tables has them. */
const LATER = { since: 2 } as const

const ADDRESS = /^[^\s@<>]+@[^\s@<>]+\.[^\s@<>.]+$/

const mail = optionalText(LATER)
const email: Column<string | null> = {
  ...mail,
  check: (value, entity, property) => {
    mail.check(value, entity, property)
    if (value !== null && value !== '') checkEmail(value)
  },
}

/** Throws `EMAIL_INVALID`. */
export function checkEmail(address: string): void {
  if (!ADDRESS.test(address)) throw ServiceErrors.EMAIL_INVALID({ email: address })
}

export const CONTACT = {
  country: optionalText(LATER),
  state: optionalText(LATER),
  city: optionalText(LATER),
  address: optionalText(LATER),
  address2: optionalText(LATER),
  zip: optionalText(LATER),
  phone: optionalText(LATER),
  email,
} as const
