// A passkey that the browser keeps in software.

/** Gives `page` an authenticator that always finds its person. `fail()` makes it stop finding them. */
export async function authenticator(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const options = {
    protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true,
    automaticPresenceSimulation: true,
  };
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", { options });
  return {
    credentials: async () => (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
    fail: () => session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false }),
    mend: () => session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true }),
  };
}

/** Adds a passkey on the page of one's own devices. */
export async function enrol(page) {
  const keys = await authenticator(page);
  await page.goto("/me");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText("Not used yet").waitFor();
  return keys;
}
