/** A secret could not be encrypted or decrypted: the keyring cannot be read, or has not the key that is needed. */
export class KeyringFault extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KeyringFault';
  }
}

let watcher: (fault: KeyringFault) => void = () => {};

/**
 * Lets `listener`, one a process, hear of every fault before it is thrown: where it is caught, nobody may know what it
 * was. In a file of its own, so that who listens need not load what the keyring needs.
 */
export function watchKeyring(listener: (fault: KeyringFault) => void): void {
  watcher = listener;
}

export function tellKeyringFault(fault: KeyringFault): void {
  watcher(fault);
}
