/** Text messages by the provider that the platform's administrator set. */
export interface NodeSms {
  /** Resolves when the provider took it for that number. */
  send(number: string, text: string): Promise<void>
}
