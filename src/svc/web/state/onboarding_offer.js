// Offers notifications and a recovery code after a new member's first message. Loaded with the greeting.

import { enterStage, stage } from "./onboarding.js";
import { listen, member } from "./server.js";

listen({
  onPush(event, data) {
    if (stage.value && event === "message_posted" && data.author.id === member.value?.id) enterStage("offer");
  },
});
