/** The scope that each type of key names. */
import type { EntityKeyType } from '../../model/entity-query.ts'
import type { AttributeScope } from '../../model/value.ts'

export const ATTRIBUTE_KEY_SCOPES: Readonly<Partial<Record<EntityKeyType, AttributeScope | 'any'>>> = {
  ATTRIBUTE: 'any',
  CLIENT_ATTRIBUTE: 'CLIENT_SCOPE',
  SERVER_ATTRIBUTE: 'SERVER_SCOPE',
  SHARED_ATTRIBUTE: 'SHARED_SCOPE',
}
