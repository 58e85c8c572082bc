/**
 * The dead letters of one tenant: messages that no try could bring through, with their body and the reason. Those of other
 * tenants do not exist for the caller.
 */
import type { DeadLetter, DeadLetters } from '../engine/link/dead-letters.ts'
import { ServiceErrors } from './errors.ts'
import type { DeadLetterService } from './services.ts'

/** Letters read at a time while those of the tenant are looked for: bounds the memory of a search, not its reach. */
const READ_AT_ONCE = 500

export class TenantDeadLetters implements DeadLetterService {
  private readonly letters: DeadLetters

  constructor(letters: DeadLetters) {
    this.letters = letters
  }

  async list(
    tenantId: string,
    query: { readonly after?: number | undefined; readonly limit: number },
  ): Promise<readonly DeadLetter[]> {
    const found: DeadLetter[] = []
    let after = query.after ?? 0
    while (found.length < query.limit) {
      const page = await this.letters.list({ after, limit: READ_AT_ONCE })
      for (const letter of page) if (letter.message.tenantId === tenantId) found.push(letter)
      const last = page.at(-1)
      if (last === undefined) break
      after = last.id
    }
    return found.slice(0, query.limit)
  }

  async replay(tenantId: string, id: number): Promise<void> {
    await this.required(tenantId, id)
    if (!(await this.letters.replay(id))) throw ServiceErrors.DEAD_LETTER_GONE()
  }

  async remove(tenantId: string, id: number): Promise<void> {
    await this.required(tenantId, id)
    await this.letters.remove(id)
  }

  private async required(tenantId: string, id: number): Promise<void> {
    const letter = await this.letters.read(id)
    if (letter?.message.tenantId !== tenantId) throw ServiceErrors.DEAD_LETTER_GONE()
  }
}
