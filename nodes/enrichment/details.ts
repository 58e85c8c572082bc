/** Contact details of a customer or the tenant (`rule-nodes.md` 17, 23). */
import { z } from 'zod'
import { isJsonObject } from '../../model/json.ts'
import type { JsonValue } from '../../model/json.ts'
import type { NodeEntity } from '../../engine/rulechain/capabilities/entities.ts'
import { requireField } from '../define-node.ts'
import type { Fetched } from './fetched.ts'

const FIELDS = {
  ID: 'id',
  TITLE: 'title',
  COUNTRY: 'country',
  CITY: 'city',
  STATE: 'state',
  ZIP: 'zip',
  ADDRESS: 'address',
  ADDRESS2: 'address2',
  PHONE: 'phone',
  EMAIL: 'email',
  ADDITIONAL_INFO: 'additionalInfo',
} as const

type Detail = keyof typeof FIELDS
const DETAILS = Object.keys(FIELDS) as [Detail, ...Detail[]]

export const detailsList = z.array(z.enum(DETAILS)).meta({
  title: 'Details',
  description: `Of ${DETAILS.join(', ')}; the last is the description. What is empty is left out.`,
})

export function requireDetails(details: readonly Detail[], node: string): void {
  requireField(details.length > 0, node, 'detailsList', 'at least one is needed')
}

export function detailsOf(entity: NodeEntity, details: readonly Detail[], prefix: string): Fetched {
  return details.flatMap((detail) => {
    const value = detailOf(entity, detail)
    return typeof value === 'string' ? [[`${prefix}${FIELDS[detail]}`, value] as const] : []
  })
}

function detailOf({ id, json, additionalInfo }: NodeEntity, detail: Detail): JsonValue | undefined {
  if (detail === 'ID') return id.id
  if (detail !== 'ADDITIONAL_INFO') return json[FIELDS[detail]]
  return isJsonObject(additionalInfo) ? additionalInfo['description'] : undefined
}
