#include "master/logic/jobs/images.h"

#include "core/model/image.h"
#include "master/logic/jobs/task_life.h"

namespace tarcil::master {

void keepToImage(EventContext& context, const Hold& hold, const std::string& digest) {
  Job& job = *hold.job;
  const Container& container = job.record.spec.container;
  if (container.image.empty() || !isImageDigest(digest) || container.imageDigest == digest) return;
  if (!container.imageDigest.empty()) {
    return moveTask(context, hold,
                    "it started in " + digest + ", which " + container.image +
                        " was on its server, and the job's image is " + container.imageDigest);
  }
  context.tables.jobs.setImage(job, digest);
  context.out.put(job.record);
}

}  // namespace tarcil::master
