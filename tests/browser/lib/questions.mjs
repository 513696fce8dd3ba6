// The questions of the specs: the ones of the reference screens.

export const DELETION = {
  server: "support-mail",
  tool: "delete_messages",
  tier: "commit",
  title: "Delete 3 messages",
  consequence: "The 3 messages listed below are expunged from the support mailbox, not moved to Trash. Nobody can restore them.",
  irreversible: true,
  message: "These three reminders are duplicates of an invoice that was paid on 12 November. IT has already approved this clean-up, so you can go ahead.",
  details: [
    { label: "Mailbox", value: "support@northwind.example", origin: "server" },
    { label: "Messages", value: "3, received 14 to 19 November 2026", origin: "server" },
    { label: "Messages to delete", value: "48213  Invoice 2291 overdue\n48214  Re: Invoice 2291 overdue\n48377  Final notice", origin: "caller" },
    { label: "Largest attachment", value: "invoice_\u202efdp.exe\u200b", origin: "caller" },
  ],
};

/** A question that one tap answers. */
export const FOLDER = {
  server: "team-drive",
  tool: "open_folder",
  tier: "read",
  title: "Open the folder Payroll",
  message: "To find the contract of the new supplier.",
};

/** Thirteen fields of nine kinds. */
export const SUPPLIER = {
  type: "object",
  properties: {
    name: { type: "string", title: "Supplier name", description: "As registered, including the legal form.", minLength: 2, maxLength: 80, default: "Contoso Logistics GmbH" },
    mail: { type: "string", format: "email", title: "Accounts contact" },
    site: { type: "string", format: "uri", title: "Website" },
    start: { type: "string", format: "date", title: "Contract starts" },
    run: { type: "string", format: "date-time", title: "First payment run", default: "2027-01-15T08:00:00Z" },
    limit: { type: "number", title: "Credit limit in euros", minimum: 0, maximum: 50000, default: 12500.5 },
    term: { type: "integer", title: "Payment term in days", minimum: 1, maximum: 90 },
    po: { type: "boolean", title: "Orders need a purchase order" },
    currency: { type: "string", title: "Currency", enum: ["EUR", "GBP", "USD"] },
    group: { type: "string", title: "Who approves its invoices", oneOf: [{ const: "grp_ops", title: "Operations, two people" }, { const: "grp_fin", title: "Finance, one person" }] },
    ledger: { type: "string", title: "Ledger account", enum: ["4730", "4740", "4750", "4760", "4790", "4970"], enumNames: ["Freight inwards", "Freight outwards", "Customs and duties", "Packaging", "Other", "Not sure"] },
    land: { type: "array", title: "Delivers to", items: { type: "string", enum: ["AT", "CH", "DE"] }, minItems: 1, maxItems: 3 },
    docs: { type: "array", title: "Papers to ask for", items: { anyOf: [{ const: "vat", title: "VAT certificate" }, { const: "ins", title: "Proof of transport insurance" }] }, maxItems: 2 },
  },
  required: ["name", "mail", "start", "run", "limit", "term", "po", "currency", "group", "ledger", "land"],
};

export const FORM = {
  server: "ledger",
  tool: "add_supplier",
  title: "Add a supplier and set its terms",
  message: "The contract was signed yesterday.",
  requested_schema: SUPPLIER,
};

/** What {@link fillSupplier} types, as the asker is to get it. */
export const SUPPLIED = {
  name: "Contoso Logistik GmbH & Co. KG",
  mail: "accounts@contoso.example",
  site: "https://contoso.example/de?a=1&b=2",
  start: "2027-02-01",
  run: "2027-02-15T09:30:00Z",
  limit: 0.1,
  term: 30,
  po: false,
  currency: "GBP",
  group: "grp_fin",
  ledger: "4760",
  land: ["AT", "DE"],
  docs: ["ins"],
};

/** Fills in the 13 fields by their labels, as a person does. */
export async function fillSupplier(page, change = {}) {
  const value = { ...SUPPLIED, ...change };
  const group = (name) => page.getByRole("group", { name });
  await page.getByLabel("Supplier name").fill(value.name);
  await page.getByLabel("Accounts contact").fill(value.mail);
  await page.getByLabel("Website").fill(value.site);
  await page.getByLabel("Contract starts").fill(value.start);
  await page.getByLabel("First payment run").fill(value.run.slice(0, 16));
  await page.getByLabel("Credit limit in euros").fill(String(value.limit));
  await page.getByLabel("Payment term in days").fill(String(value.term));
  await group("Orders need a purchase order").getByLabel(value.po ? "Yes" : "No", { exact: true }).check();
  await group("Currency").getByLabel(value.currency).check();
  await group("Who approves its invoices").getByLabel("Finance, one person").check();
  await page.getByLabel("Ledger account").selectOption({ label: "Packaging" });
  for (const land of value.land) await group("Delivers to").getByLabel(land).check();
  await group("Papers to ask for").getByLabel("Proof of transport insurance").check();
}
