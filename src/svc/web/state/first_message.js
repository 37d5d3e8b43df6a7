// The end of a new member's silence: their first message leads to the offer of notifications and a recovery
// code. Loaded with the greeting.

import { enterStage, stage } from "./newcomer.js";
import { listen, member } from "./server.js";

listen({
  hear(event, data) {
    if (stage.value && event === "message_posted" && data.author.id === member.value?.id) enterStage("offer");
  },
});
