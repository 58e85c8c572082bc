/** What logins must remember between starts: the entity store's settings, as far as they are needed here. */
import type { JsonValue } from '../../model/json.ts'

export interface SettingsStore {
  find(name: string): Promise<JsonValue | undefined>
  put(name: string, value: JsonValue): Promise<void>
  /** The value in force: the stored one where there was one. */
  putIfAbsent(name: string, value: JsonValue): Promise<JsonValue>
}
