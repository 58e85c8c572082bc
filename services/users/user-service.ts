/** Who logs in, and whose tokens count. */
import type { User } from '../../model/entities.ts'
import type { Principal } from '../../model/principal.ts'

export interface UserService {
  /**
   * Undefined for a wrong password and for an unknown user alike, in the same time. Throws `users.NOT_ACTIVE` for who was not activated yet,
   * or is switched off.
   */
  authenticate(email: string, password: string): Promise<User | undefined>
  find(id: string): Promise<User | undefined>
  /** Nobody in particular, who sees what a public customer has; undefined where the customer is not public. */
  findPublic(customerId: string): Promise<User | undefined>
  noteLogin(id: string): Promise<void>
  /** Tokens issued before this Unix ms are refused (password changed, switched off): all are of who may not log in. */
  tokensValidFrom(id: string): Promise<number>
  /** `by`: who the audit log says did it. */
  changePassword(id: string, current: string, next: string, by?: Principal): Promise<void>
}
