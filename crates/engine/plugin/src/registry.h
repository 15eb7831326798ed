// Makes the plug-in's classes known by name, so that an OPTIONS file or an
// option string that names one of them can be loaded.
#pragma once

namespace lissom {

// Does its work once per process; cheap afterwards.
void RegisterObjects();

}  // namespace lissom
