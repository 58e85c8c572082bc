/**
 * The dead letters of one tenant: messages that no try could bring through, with their body and the reason. Those of other
 * tenants do not exist for the caller.
 */
import type { DeadLetter, DeadLetters } from '../../engine/link/dead-letters.ts'
import { ServiceErrors } from '../errors.ts'
import type { DeadLetterService } from './dead-letter-service.ts'

export class TenantDeadLetters implements DeadLetterService {
  private readonly letters: DeadLetters

  constructor(letters: DeadLetters) {
    this.letters = letters
  }

  async list(
    tenantId: string,
    query: { readonly after?: number | undefined; readonly limit: number },
  ): Promise<readonly DeadLetter[]> {
    return this.letters.list({ tenantId, after: query.after, limit: query.limit })
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
