/** The scope that a message means: that of its metadata, or else the configured one. */
import type { Message } from '../../model/message.ts'
import { ATTRIBUTE_SCOPES, type AttributeScope } from '../../model/value.ts'
import { NodeErrors } from '../errors.ts'

/** Throws `METADATA_INVALID`. */
export function scopeOf(message: Message, configured: AttributeScope): AttributeScope {
  const text = message.metadata['scope']
  if (text === undefined || text === '') return configured
  const scope = ATTRIBUTE_SCOPES.find((known) => known === text)
  if (scope === undefined) {
    throw NodeErrors.METADATA_INVALID({ key: 'scope', value: text, expected: ATTRIBUTE_SCOPES.join(', ') })
  }
  return scope
}
