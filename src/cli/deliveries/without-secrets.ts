/** What a receiver answered, without the secrets that it must not quote but may. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, "[the secret]"), text);
}
