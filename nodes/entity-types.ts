/** Entity types as configurations name them and as the switch labels them. */
import { z } from 'zod'
import { ENTITY_TYPES } from '../model/entity-id.ts'

export const entityTypeName = z.enum(ENTITY_TYPES)

/** `Device`, `Rule chain`, `Entity View`: `TB_` goes, underscores become spaces, the first letter is a capital. */
export function entityTypeLabel(type: string): string {
  if (type === 'ENTITY_VIEW') return 'Entity View'
  if (type === 'AI_MODEL') return 'AI model'
  const words = type.replace(/^TB_/, '').toLowerCase().replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
