/** API keys: what a program shows in the place of a login; of each only a hash is kept. Source: `rest-api.md` 1.7. */
import { randomText } from '../users/secrets.ts'
import { hashOfToken } from '../users/credentials.ts'
import { UserErrors } from '../users/errors.ts'
import { checkText } from '../names.ts'
import { flag, id, integer, name, optionalText, type Column } from './column.ts'
import { defineEntity, type RecordOf } from './define.ts'

const UNTOLD_LENGTH = 64

function description(): Column<string> {
  return {
    ...name(),
    check: (value, _entity, property) => {
      if (value.trim() === '') throw UserErrors.API_KEY_NAMELESS()
      checkText(property, value)
    },
  }
}

export const apiKeys = defineEntity({
  type: 'API_KEY',
  label: 'Api key',
  name: 'description',
  table: { name: 'api_key', version: 1, indexes: [{ members: ['userId'] }] },
  columns: {
    userId: id('USER', { whenDeleted: 'delete', missing: () => UserErrors.API_KEY_USER_UNKNOWN() }),
    /** Unix ms; 0 for never. */
    expirationTime: integer(0),
    description: description(),
    enabled: flag(true),
    hash: { ...optionalText({ sort: false }), isInternal: true },
  },
  unique: [{ members: ['hash'], isSystemWide: true, otherwise: () => UserErrors.API_KEY_TAKEN() }],
  lacks: ['version', 'externalId'],
  example: (ids) => ({ userId: { entityType: 'USER', id: ids['userId'] ?? '' }, description: 'nightly report' }),
  permissions: { SYS_ADMIN: 'all', TENANT_ADMIN: 'all', CUSTOMER_USER: 'all' },
  mayBeSystems: true,
  /** Whoever came in by it is asked again whether it still holds. */
  tells: ({ userId }, what) =>
    what === 'created' ? undefined : { kind: 'user-tokens-withdrawn', entity: { entityType: 'USER', id: userId } },
  userOf: ({ userId }) => userId,
  /** Whose it is, how long it holds, and its value, stay. Whoever makes one without a value makes one that nobody can show. */
  async prepare(record, { before }) {
    if (before !== undefined && before.userId !== record.userId) throw UserErrors.API_KEY_FIXED({ member: 'user id' })
    if (before !== undefined && before.expirationTime !== record.expirationTime)
      throw UserErrors.API_KEY_FIXED({ member: 'expiration time' })
    const { hash } = before ?? record
    return { record: { ...record, hash: hash ?? hashOfToken(randomText(UNTOLD_LENGTH)) } }
  },
})

export type ApiKey = RecordOf<typeof apiKeys.columns>
