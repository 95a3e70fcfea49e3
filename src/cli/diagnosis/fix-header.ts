export interface HeaderFault {
  cause: string;
  /** The header without the fault; null if the header does not show what it should be. */
  fixed: string | null;
}

const FORM = /^t=[0-9]{1,12},v1=[0-9a-f]{64}$/;

/** Why a header does not have the form `t=<1 to 12 digits>,v1=<64 lowercase hex>`. */
export function findHeaderFault(header: string): HeaderFault {
  const dense = header.replaceAll(/\s/g, "");
  if (dense !== header && FORM.test(dense)) return { cause: "it contains spaces", fixed: dense };
  const lowercase = dense.toLowerCase();
  const milliseconds = /^t=(\d{10})\d{3},(v1=[0-9a-f]{64})$/.exec(lowercase);
  if (milliseconds !== null) {
    const fixed = `t=${milliseconds[1]},${milliseconds[2]}`;
    return { cause: "t is in milliseconds: it must be whole seconds", fixed };
  }
  return { cause: partAtFault(lowercase), fixed: null };
}

function partAtFault(header: string): string {
  if ((header.match(/v1=/g) ?? []).length > 1) return "it has more than one v1: it may have been sent twice";
  if (/^(?:sha256=)?[0-9a-f]{64}$/.test(header)) return "it is only a digest: t=<unix seconds>, and v1= are missing";
  if (!/(?:^|,)t=/.test(header)) return "it has no t=<unix seconds>";
  const digest = /(?:^|,)v1=([^,]*)/.exec(header)?.[1];
  if (digest === undefined) return "it has no v1=<hex>";
  if (/^[0-9a-f]*$/.test(digest) && digest.length !== 64) return `its v1 has ${digest.length} hex digits instead of 64`;
  return "it must be t=<1 to 12 digits>,v1=<64 hex digits>";
}
